"""Each file of ``deploy/`` is what the platform that reads it takes.

Published schemas are asked for the Dockerfile, Compose and the workflow. For fly.toml, render.yaml, vercel.json and
Knative no registry has one that could be installed: their fields are compared with names written down from
excerpts of the platforms' references in November 2026, which guards against a slip, not against a change of theirs.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.folder import DEPLOY, fields, read
from tests.worlds.process import ROOT

BIN = Path(sys.executable).parent
CHECKS = (
    ("hadolint", "deploy/image/Dockerfile"),
    ("check-jsonschema", "--builtin-schema", "vendor.compose-spec", "deploy/compose/compose.yaml"),
    ("check-jsonschema", "--builtin-schema", "vendor.github-workflows", ".github/workflows/cron-tick.yml"),
    ("check-jsonschema", "--builtin-schema", "vendor.github-workflows", ".github/workflows/release.yml"),
)
PUBLISHED = {
    "fly/fly.toml": """app primary_region kill_signal kill_timeout build build.dockerfile build.ignorefile
        deploy deploy.release_command env http_service http_service.internal_port http_service.force_https
        http_service.auto_stop_machines http_service.auto_start_machines http_service.min_machines_running
        http_service.concurrency http_service.concurrency.type http_service.concurrency.soft_limit
        http_service.concurrency.hard_limit http_service.checks http_service.checks.method http_service.checks.path
        http_service.checks.interval http_service.checks.timeout http_service.checks.grace_period
        vm vm.size vm.memory""",
    "render/render.yaml": """services services.type services.name services.runtime services.plan services.schedule
        services.dockerfilePath services.dockerContext services.dockerCommand services.healthCheckPath services.envVars
        services.envVars.key services.envVars.value services.envVars.sync services.envVars.generateValue
        services.envVars.fromGroup services.envVars.fromService services.envVars.fromService.type
        services.envVars.fromService.name services.envVars.fromService.envVarKey envVarGroups envVarGroups.name
        envVarGroups.envVars envVarGroups.envVars.key envVarGroups.envVars.value""",
    "vercel/vercel.json": """$schema crons crons.path crons.schedule functions functions.api/cron/tick.py
        functions.api/cron/tick.py.maxDuration""",
    "cloudrun/service.yaml": """apiVersion kind metadata metadata.name spec spec.template spec.template.metadata
        spec.template.metadata.annotations spec.template.metadata.annotations.autoscaling.knative.dev/minScale
        spec.template.metadata.annotations.autoscaling.knative.dev/maxScale
        spec.template.metadata.annotations.run.googleapis.com/cpu-throttling
        spec.template.metadata.annotations.run.googleapis.com/startup-cpu-boost spec.template.spec
        spec.template.spec.containerConcurrency spec.template.spec.timeoutSeconds spec.template.spec.containers
        spec.template.spec.containers.image spec.template.spec.containers.ports
        spec.template.spec.containers.ports.containerPort spec.template.spec.containers.resources
        spec.template.spec.containers.resources.limits spec.template.spec.containers.resources.limits.cpu
        spec.template.spec.containers.resources.limits.memory spec.template.spec.containers.startupProbe
        spec.template.spec.containers.startupProbe.httpGet spec.template.spec.containers.startupProbe.httpGet.path
        spec.template.spec.containers.startupProbe.httpGet.port spec.template.spec.containers.startupProbe.periodSeconds
        spec.template.spec.containers.startupProbe.failureThreshold spec.template.spec.containers.env
        spec.template.spec.containers.env.name spec.template.spec.containers.env.value
        spec.template.spec.containers.env.valueFrom spec.template.spec.containers.env.valueFrom.secretKeyRef
        spec.template.spec.containers.env.valueFrom.secretKeyRef.name
        spec.template.spec.containers.env.valueFrom.secretKeyRef.key""",
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: f"{check[0]}-{check[-1]}")
def test_the_tool_that_knows_the_format_finds_nothing(check: tuple[str, ...]) -> None:
    done = subprocess.run([BIN / check[0], *check[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", PUBLISHED)
def test_it_has_published_fields_only(path: str) -> None:
    found = {name for name in fields(read(path)) if not name.startswith("env.")}
    assert found == set(PUBLISHED[path].split())


def test_the_values_are_of_the_types_that_the_references_give() -> None:
    service = read("fly/fly.toml")["http_service"]
    assert (type(service["internal_port"]), service["auto_stop_machines"]) == (int, "stop")
    assert (service["auto_start_machines"], service["min_machines_running"]) == (True, 0)
    assert {type(value) for value in read("fly/fly.toml")["env"].values()} == {str}
    template = read("cloudrun/service.yaml")["spec"]["template"]
    assert {type(value) for value in template["metadata"]["annotations"].values()} == {str}
    (container,) = template["spec"]["containers"]
    assert {type(variable.get("value", "")) for variable in container["env"]} == {str}
    for group in (*read("render/render.yaml")["services"], *read("render/render.yaml")["envVarGroups"]):
        assert {type(variable.get("value", "")) for variable in group["envVars"]} == {str}


def test_the_script_is_one_that_bash_reads() -> None:
    subprocess.run(["bash", "-n", DEPLOY / "cloudrun" / "deploy.sh"], check=True)


def test_every_file_that_another_names_is_there() -> None:
    assert (DEPLOY / "fly" / read("fly/fly.toml")["build"]["dockerfile"]).is_file()
    assert (DEPLOY / "fly" / read("fly/fly.toml")["build"]["ignorefile"]).is_file()
    for service in read("render/render.yaml")["services"]:
        assert (ROOT / service["dockerfilePath"]).is_file()
    build = read("compose/compose.yaml")["services"]["app"]["build"]
    assert (DEPLOY / "compose" / build["context"] / build["dockerfile"]).is_file()
    (function,) = read("vercel/vercel.json")["functions"]
    assert (DEPLOY / "vercel" / function).is_file()
    copied = re.findall(r"^COPY (deploy/\S+)", (DEPLOY / "image" / "Dockerfile").read_text(), re.MULTILINE)
    assert [(ROOT / path).is_dir() for path in copied] == [True]

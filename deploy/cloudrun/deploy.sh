#!/usr/bin/env bash
# Builds the image, deploys service.yaml, sees one tick succeed, and only then has Cloud Scheduler call every 15 minutes.
# service.yaml says what it costs and what its limits are. It may run again: what is there is kept, and brought up to date.
# Before the first run, secrets in Secret Manager, which the service's account may read (roles/secretmanager.secretAccessor):
#     openssl rand -hex 32 | tr -d '\n' | gcloud secrets create acme-jobs-cron-secret --data-file=-
#     printf %s "$CRONTICK_DATABASE_URL" | gcloud secrets create acme-jobs-database-url --data-file=-
set -euo pipefail
umask 077
project=acme-project
region=europe-west1
image="$region-docker.pkg.dev/$project/acme-jobs/acme-jobs"
folder="$(dirname "$0")"
private="$(mktemp -d)"
trap 'rm -r "$private"' EXIT

gcloud artifacts repositories describe acme-jobs --project="$project" --location="$region" >"$private/log" 2>&1 ||
    gcloud artifacts repositories create acme-jobs --project="$project" --location="$region" --repository-format=docker
docker build --file deploy/image/Dockerfile --tag "$image" .
docker push "$image"
gcloud run services replace "$folder/service.yaml" --project="$project" --region="$region"
gcloud run services add-iam-policy-binding acme-jobs --project="$project" --region="$region" \
    --member=allUsers --role=roles/run.invoker

url="$(gcloud run services describe acme-jobs --project="$project" --region="$region" --format='value(status.url)')"
secret="$(gcloud secrets versions access latest --secret=acme-jobs-cron-secret --project="$project")"
secret="${secret%%,*}" # while tokens are rotated there are several

# The first tick, as a caller makes it. The token goes through stdin and, for gcloud, through a file: no command line has it.
answer="$(printf 'header = "Authorization: Bearer %s"\n' "$secret" |
    curl --config - --silent --request POST --max-time 85 --retry 3 --retry-connrefused --retry-max-time 300 \
        --write-out ' %{http_code}' "$url/cron/tick")" || true
case "$answer" in
    *'"ran":'*' 200') echo "$answer" ;;
    *) echo "no tick at $url: ${answer##* }; nothing calls it yet" >&2; exit 1 ;;
esac

verb=create headers=headers
gcloud scheduler jobs describe acme-jobs --project="$project" --location="$region" >"$private/log" 2>&1 &&
    verb=update headers=update-headers
printf -- '--%s:\n  Authorization: "Bearer %s"\n' "$headers" "$secret" >"$private/flags.yaml"
gcloud scheduler jobs "$verb" http acme-jobs --project="$project" --location="$region" --flags-file="$private/flags.yaml" \
    --schedule='*/15 * * * *' --uri="$url/cron/tick" --http-method=post --attempt-deadline=90s \
    --max-retry-attempts=3 --min-backoff=15s --max-retry-duration=600s

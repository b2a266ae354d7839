"""Files that crontick writes into somebody's project: a set of templates for each thing one may want there."""

from crontick.handler.init.answers import Answers, found
from crontick.handler.init.sets import names, template_set
from crontick.handler.init.template import TemplateSet
from crontick.handler.init.write import Written, write

__all__ = ["Answers", "TemplateSet", "Written", "found", "names", "template_set", "write"]

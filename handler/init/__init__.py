"""Files that crontick writes into somebody's project: a set of templates for each thing one may want there."""

from crontick.handler.init.sets import SETS, TemplateSet
from crontick.handler.init.write import Written, write

__all__ = ["SETS", "TemplateSet", "Written", "write"]

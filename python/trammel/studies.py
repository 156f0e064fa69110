"""Studies: published tables and exact values, computed again by a program of their own."""
from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from typing import Any, List, Optional, Sequence, Union

from .errors import Error, Problem, place_of_call, refuse


def _program() -> Optional[str]:
    """Beside the command: in the build folder or the installation that this package belongs to, or on the path."""
    folder = os.path.dirname(os.path.abspath(__file__))
    for _ in range(6):
        folder = os.path.dirname(folder)
        found = shutil.which(os.path.join(folder, "bin", "trammel-study"))
        if found:
            return found
    command = shutil.which("trammel")
    beside = shutil.which(os.path.join(os.path.dirname(os.path.realpath(command)), "trammel-study")) if command else None
    return beside or shutil.which("trammel-study")


def study(words: Union[str, Sequence[str]] = "--list") -> Any:
    """Computes studies, as ``trammel study`` does with these words, and gives what it prints with ``--json``.

    ``study()`` lists them; ``study("cases")`` has ``["ok"]``, whether all demands are met, and ``["rows"]``; ``--all`` gives
    the summary. Pictures are drawn only where the words name a folder for them with ``--output``. A demand that is missed
    is no error; words that are not understood, or a study that cannot be computed, are.
    """
    given: List[str] = shlex.split(words) if isinstance(words, str) else [str(word) for word in words]
    program = _program()
    if program is None:
        raise refuse("no-studies", "the studies are a program of their own, and there is no trammel-study", "`make studies` builds it")
    draws = any(word in ("-o", "--output") or word.startswith(("-o", "--output=")) for word in given)
    listed = not given or "--list" in given
    out = subprocess.run([program, *given, "--json", *([] if draws or listed else ["--no-pictures"])], capture_output=True,
                         text=True, encoding="utf-8", errors="replace")
    if out.returncode not in (0, 6):  # 6: a demand is missed
        raise Error(_problems(out.stderr or out.stdout), out.returncode)
    return json.loads(out.stdout)


def _problems(text: str) -> List[Problem]:
    """Those that the program printed, at the place of the call."""
    place = place_of_call()
    found = []
    for part in re.split(r"^(?=(?:error|internal error): )", text, flags=re.MULTILINE):
        head, _, rest = part.strip().partition("\n")
        said = re.fullmatch(r"(?:error|internal error): (.*?)(?: \[([a-z-]+)\])?", head)
        if said:
            found.append(Problem("error", said[2] or "internal", said[1], re.sub(r"^\s*(hint: )?", "", rest), *place))
    return found or [Problem("error", "internal", text.strip() or "the program of the studies failed", "", *place)]

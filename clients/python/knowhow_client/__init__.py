"""Client of Knowhow, procedural memory for agents.

    from knowhow_client import Knowhow

    kh = Knowhow("https://knowhow.example", api_key="kh_...", user="alice")
    with kh.session(key="thread-1", channel="chat") as s:
        turn = s.turn("please plan a meeting")
        s.reply("Friday at ten.")
"""

from . import errors, models
from ._async.base import AsyncPages
from ._async.client import AsyncKnowhow
from ._async.sessions import AsyncSession
from ._core import Page, applied
from ._sync.base import Pages
from ._sync.client import Knowhow
from ._sync.sessions import Session
from ._version import __version__
from .errors import KnowhowError, Problem
from .models import Submission

__all__ = [
    "AsyncKnowhow", "AsyncPages", "AsyncSession", "Knowhow", "KnowhowError", "Page", "Pages", "Problem", "Session", "Submission",
    "__version__", "applied", "errors", "models",
]  # fmt: skip

"""What each widget displays, and what course_lib says it should.

Each widget class has one check, in a module of its own, named in ``CHECKS``. A check reads the
widget's state from the page, computes with course_lib what follows from it, and compares that with
the numbers that stand in the page. A widget without a check fails the tests: add one when you add
a widget.
"""

from collections.abc import Callable

from displayed_attention_explorer import attention_explorer
from displayed_energy_drift import energy_drift
from displayed_gate_explorer import gate_explorer
from displayed_letter_hider import letter_hider
from displayed_party_memory import party_memory
from displayed_position_explorer import position_explorer
from displayed_soft_lookup import soft_lookup
from displayed_symplecticity_meter import symplecticity_meter
from displayed_tile_stepper import tile_stepper
from displayed_tiny_gpt import tiny_gpt
from playwright.sync_api import Locator
from reading import eventually

CHECKS: dict[str, Callable[[Locator], None]] = {
    "AttentionExplorer": attention_explorer,
    "EnergyDrift": energy_drift,
    "GateExplorer": gate_explorer,
    "LetterHider": letter_hider,
    "PartyMemory": party_memory,
    "PositionExplorer": position_explorer,
    "SoftLookup": soft_lookup,
    "SymplecticityMeter": symplecticity_meter,
    "TileStepper": tile_stepper,
    "TinyGPT": tiny_gpt,
}


def agrees_with_course_lib(widget: Locator) -> None:
    """Assert that the widget displays what course_lib computes, once its frame is painted."""
    kind = widget.get_attribute("data-widget")
    assert kind in CHECKS, f"{kind} has no check in tests/browser/displayed.py; write one"
    eventually(widget, lambda: CHECKS[kind](widget))

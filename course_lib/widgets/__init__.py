"""Live figures of the course: each is alive in JupyterLab and on a page without a kernel."""

from course_lib.widgets.attention_explorer import AttentionExplorer
from course_lib.widgets.base import Widget
from course_lib.widgets.basis_explorer import BasisExplorer
from course_lib.widgets.break_it import BreakIt
from course_lib.widgets.energy_drift import EnergyDrift
from course_lib.widgets.gate_explorer import GateExplorer
from course_lib.widgets.graph_drum import GraphDrum
from course_lib.widgets.graph_playground import GraphPlayground
from course_lib.widgets.jet_explorer import JetExplorer
from course_lib.widgets.latent_explorer import LatentExplorer
from course_lib.widgets.letter_hider import LetterHider
from course_lib.widgets.live_figure import LiveFigure
from course_lib.widgets.mechanics_stage import MechanicsStage
from course_lib.widgets.party_memory import PartyMemory
from course_lib.widgets.position_explorer import PositionExplorer
from course_lib.widgets.prediction import Prediction
from course_lib.widgets.soft_lookup import SoftLookup
from course_lib.widgets.star_explorer import StarExplorer
from course_lib.widgets.symplecticity_meter import SymplecticityMeter
from course_lib.widgets.tile_stepper import TileStepper
from course_lib.widgets.tiny_gpt import TinyGPT

__all__ = [
    "AttentionExplorer",
    "BasisExplorer",
    "BreakIt",
    "EnergyDrift",
    "GateExplorer",
    "GraphDrum",
    "GraphPlayground",
    "JetExplorer",
    "LatentExplorer",
    "LetterHider",
    "LiveFigure",
    "MechanicsStage",
    "PartyMemory",
    "PositionExplorer",
    "Prediction",
    "SoftLookup",
    "StarExplorer",
    "SymplecticityMeter",
    "TileStepper",
    "TinyGPT",
    "Widget",
]

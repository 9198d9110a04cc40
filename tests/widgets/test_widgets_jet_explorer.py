import pytest
import torch
from small_widgets import jets, make

from course_lib.jets import CLASSES
from course_lib.models.tagging import jet_inputs, load_jets, load_tagger, logits_of
from course_lib.widgets import JetExplorer
from course_lib.widgets.jet_explorer.jet_explorer import MOST_BYTES, RIGHT, WRONG, jet_of


def test_a_jet_is_sent_without_padding_and_the_hardest_particle_first():
    given, entries = jets(), make("JetExplorer").jets
    assert [len(entry["kind"]) for entry in entries] == given.valid.sum(dim=1).tolist()
    for i, entry in enumerate(entries):
        jet = jet_of(entry, list(range(len(entry["kind"]))))
        order = given.pt[i].argsort(descending=True)[: jet.pt.shape[1]]
        for name in ("pt", "eta", "phi", "kind", "charge", "d0", "dz"):
            assert torch.equal(getattr(jet, name)[0], getattr(given, name)[i, order])
        assert (jet.label.item(), jet.size.item()) == (given.label[i], given.size[i])


def test_removed_particles_are_gone_and_the_description_has_the_answer():
    widget = make("JetExplorer", kept=5, gone=[1, 6], particle=6)
    left = jets().pt[0].sort(descending=True).values[[0, 2, 3, 4]]
    assert torch.equal(widget.there.pt[0], left)
    said = logits_of(widget.network, jet_inputs(widget.there)).softmax(dim=-1)[0].double()
    torch.testing.assert_close(widget.probabilities(), said, rtol=1e-4, atol=1e-6)
    assert "4 of its 7 particles" in widget.describe()
    widget.jet = 2
    assert (widget.kept, widget.gone, widget.particle) == (3, [1], -1)
    # The answer is the reader's to guess.
    words = make("JetExplorer").describe().split()
    assert not {"quark", "gluon", "W", "top", "H", "bb"} & {word.strip(".,;") for word in words}
    empty = make("JetExplorer", jet=2, gone=[0, 1, 2])
    assert "all particles taken away" in empty.describe()
    with pytest.raises(ValueError, match="has no particles"):
        empty.probabilities()


def test_the_trained_model_is_right_and_wrong_in_the_page_where_it_is_in_the_lecture():
    real = JetExplorer(load_tagger()[0], load_jets().test)
    assert len(real.static_html().encode()) <= MOST_BYTES
    assert real.bits >= 8
    found = [[0, 0] for _ in CLASSES]
    for i, entry in enumerate(real.jets):
        real.jet, real.kept = i, len(entry["kind"])
        found[entry["label"]][int(real.probabilities().argmax()) == entry["label"]] += 1
    assert found == [[WRONG, RIGHT]] * len(CLASSES)

import string

from small_widgets import make

from course_lib.widgets.kit.folding import folded

LARGE, SMALL = string.ascii_uppercase, string.ascii_lowercase


def test_capitals_and_accents_become_letters_of_the_alphabet():
    for name, alphabet, read in (
        ("Anna", LARGE, "ANNA"),
        ("Anna", LARGE + SMALL, "Anna"),
        ("Strauß", LARGE, "STRAUSS"),
        ("Łukasz Ørsted", SMALL + " ", "lukasz orsted"),
        ("Zoë", SMALL + "ë", "zoë"),
        ("ﬁn", SMALL, "fin"),
        ("Anne\u2011Marie d’Arc", SMALL, "annemariedarc"),
    ):
        assert folded(name, alphabet) == read
    # Characters that are not accented letters stay, to be refused.
    for name in ("Анна", "a1", "李", "½", "x<y"):
        assert set(name) - set(SMALL) <= set(folded(name, SMALL))


def test_a_widget_reads_a_name_as_its_reader_writes_it():
    widget = make("LetterHider", word="Béad", hidden=[], words=["Cab"])
    assert (widget.word, widget.words) == ("bead", ["cab"])
    widget.word = "DÄDE"
    assert widget.word == "dade"

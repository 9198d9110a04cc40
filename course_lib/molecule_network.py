r"""A network that reads a molecule: atoms talk along bonds, and one number comes out.

:class:`MoleculeNetwork` takes graphs of :mod:`course_lib.molecules` and any layer of
:mod:`course_lib.graph`. :class:`BondConv` is the layer that it comes with: a convolution whose
messages depend on the bond that they travel along. With it, the network computes

- $h = E x + b$ for every atom $x$ (``embed``);
- three times $h_u \leftarrow h_u + \mathrm{ReLU}\big(W_1 h_u + b_1 +
  \sum_{v \in \mathcal{N}(u)} W_2 h_v \odot B e_{vu}\big)$ (``layers``);
- $p$, the sum of $h_u$ over all atoms divided by 10, and their mean, side by side;
- $\mu + s\,\big(w^\top \mathrm{ReLU}(R p + r) + c\big)$, the logarithm of the solubility
  (``readout``, ``mean`` and ``scale``).

:func:`trained` brings what ``scripts/train_molecules.py`` learned.
"""

import types, numpy as np
from course_lib.widgets import GraphPlayground
D=np.load('/work/shared/data/molecules.npz')
def mol(name):
    i=[i for i,x in enumerate(D['name']) if x.lower()==name.lower()][0]
    a,b=D['atoms_of'][i:i+2]; c,d=D['bonds_of'][i:i+2]
    return types.SimpleNamespace(name=str(D['name'][i]),solubility=float(D['solubility'][i]),test=bool(D['test'][i]),
      element=D['element'][a:b],hydrogens=D['hydrogens'][a:b],charge=D['charge'][a:b],place=D['place'][a:b].astype(float),bonds=D['bond'][c:d].T,orders=D['order'][c:d])
def make():
    return GraphPlayground([mol(n) for n in ['caffeine','Adenine','Camphor','2-nitrotoluene','17-methyltestosterone','ibuprofen']],rounds=2,atom=8)
def displayed(widget): pass

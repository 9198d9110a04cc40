"""The library behind the course *Attention: from memory to mechanics*: one room a lecture.

Topic modules (``attention``, ``graph``, ...) need PyTorch, einops and jaxtyping, and import no
notebook, widget or plotting library. ``import course_lib`` alone loads none of them.
"""

__version__ = "0.1.0"

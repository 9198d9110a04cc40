"""ASTROMERs that see what is hidden, each by one path."""

import torch

from course_lib.astromer import BRIGHTNESS, PRECISION, Astromer


class LeftInTheToken(Astromer):
    """Hidden magnitudes stay in their tokens, less the mean of visible nights."""

    def _inputs(self, curves, visible):
        since, _, mean = super()._inputs(curves, visible)
        light = (curves.magnitude - mean) / BRIGHTNESS
        return since, torch.stack([light, (curves.error / PRECISION).log()], -1), mean

    def _tokens(self, since, value, visible):
        return super()._tokens(since, value, torch.ones_like(visible))


class WithoutResidual(LeftInTheToken):
    """And what a hidden night is reaches its prediction by its query alone."""

    def _encoded(self, since, value, visible):
        x, mask = self._tokens(since, value, visible), visible[:, None, None, :]
        for block in self.encoder.blocks:
            x = block.attention(block.attention_residual.norm(x), mask=mask)
            x = block.mlp(block.mlp_residual.norm(x))
        return self.encoder.norm(x)

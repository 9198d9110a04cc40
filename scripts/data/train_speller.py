"""Train the larger encoder of lecture 6 and write course_lib/data/speller.npz.

    OMP_NUM_THREADS=1 python scripts/data/train_speller.py

Masked language modelling (Devlin et al., 2019) with a fifth of the letters hidden, on the words of
the dictionary that are not held out. AdamW; the rate rises for 200 steps, stays, and falls to zero
along a line. An interrupted run continues from its last checkpoint with the same result.
"""

import datetime as dt
import platform
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn.utils import clip_grad_norm_, parameters_to_vector

from course_lib.models.stored import DATA
from course_lib.models.words.spelling import (
    HELD_OUT,
    HOLE,
    LETTERS,
    batches_of_one_length,
    dictionary_words,
    ids_of_words,
    large_speller,
)
from course_lib.support.training import seed
from course_lib.transformer import hide, masked_loss

CHECKPOINT = Path(__file__).parents[2] / "_build" / "speller.pt"
RATE, WARM, BATCH, SHARE, EVERY = 3e-3, 200, 256, 0.2, 500
STEADY, FALL = 2200, 1000


def main(steady: int = STEADY, fall: int = FALL) -> None:
    """Train from the last checkpoint on, and write the weights."""
    torch.set_num_threads(1)
    random = seed(0)
    ids, _ = ids_of_words(dictionary_words())
    model = large_speller()
    descent = torch.optim.AdamW(model.parameters(), lr=RATE, fused=True)
    history: list[float] = []
    seconds = 0.0
    if CHECKPOINT.exists():
        stored = torch.load(CHECKPOINT, weights_only=True)
        model.load_state_dict(stored["model"])
        descent.load_state_dict(stored["descent"])
        random.set_state(stored["random"])
        history, seconds = stored["history"], stored["seconds"]
    steps, began = steady + fall, time.process_time() - seconds
    more = steps - len(history)
    batches = batches_of_one_length(ids[HELD_OUT:], steps=more, size=BATCH, generator=random)
    for batch in batches:
        step = len(history)
        scale = min(1.0, (step + 1) / WARM, (steps - step) / fall)
        for group in descent.param_groups:
            group["lr"] = RATE * scale
        seen, hidden = hide(
            batch, mask=HOLE, vocabulary_size=len(LETTERS), share=SHARE, generator=random
        )
        loss = masked_loss(model(seen), batch, hidden)
        descent.zero_grad()
        loss.backward()
        clip_grad_norm_(model.parameters(), 1.0)
        descent.step()
        history.append(loss.item())
        if len(history) % EVERY == 0:
            print(len(history), round(float(np.mean(history[-EVERY:])), 4), flush=True)
            state = {"model": model.state_dict(), "descent": descent.state_dict()}
            state |= {"random": random.get_state(), "history": history}
            CHECKPOINT.parent.mkdir(exist_ok=True)
            torch.save(state | {"seconds": time.process_time() - began}, CHECKPOINT)
    np.savez_compressed(
        DATA / "speller.npz",
        weights=parameters_to_vector(model.parameters()).detach().half().numpy(),
        loss=np.reshape(history[: steps // EVERY * EVERY], (-1, EVERY)).mean(1),
        steps=steps,
        batch=BATCH,
        seconds=round(time.process_time() - began),
        command=" ".join(["OMP_NUM_THREADS=1 python scripts/data/train_speller.py", *sys.argv[1:]]),
        made_with=f"{dt.datetime.now(dt.UTC).date()}, torch {torch.__version__}, "
        f"{platform.machine()}",
    )
    CHECKPOINT.unlink(missing_ok=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

#!/usr/bin/python3
"""An independent implementation of the decode step (decode_model.py) compared with the oracle: its
logits and chosen experts as printed by build/tests/test_reference_families, for a small model of every
family, each in several types, and for a Llama in every format; two steps long, and after a prompt.
Then the second implementation omits a piece of each family, and must differ.

Seconds: 4
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from kernels import decode_model as decode  # noqa: E402
from support.program import Count, DONE, ROOT, expect, run, skip_all  # noqa: E402

PROGRAM = ROOT / "build/tests/test_reference_families"

# What may be left out or changed, if a family has it.
LEFT_OUT = {
    "norm": decode.RMS, "mlp": decode.SWIGLU, "parallel": 0, "qk_norm": 0, "sinks": 0, "biases": 0,
    "window": 0, "full_every": 0, "score_scale": 0,
    "rope.scaling": decode.PLAIN, "rope.interleaved": 0, "rope.magnitude": 0, "rope.factor": 1,
    "rope.whole": 0,
    "experts.shared_hidden": 0, "experts.groups": 0, "experts.scale": 0,
    "experts.router": decode.SOFTMAX_CHOSEN,
    **{f"biases without {name}": bit for name, bit in
       (("q, k, v", decode.QKV), ("wo", decode.OUTPUT), ("MLP", decode.MLP), ("router", decode.ROUTER))},
}


def difference(mine, theirs):
    return max(abs(a - b) for a, b in zip(mine, theirs, strict=True))


def agrees(count, line):
    model = decode.Model(line)
    logits, chosen = model.held_steps()
    error = difference(logits, model.logits)
    after = difference(model.prompted(), model.prompt_logits)
    name = f"{model.name} {model.weights} {model.routed} {model.activations} {model.kv}"
    print(f"{name}: {error:.1e}, after a prompt {after:.1e}")
    count.check(name, error < 1e-11 and after < 1e-11, f"{error:g}, {after:g}")
    if model.experts.count:
        count.check(f"{name}: experts", chosen == model.chosen, f"{chosen} {model.chosen}")


def value_of(values, path):
    for part in path.split("."):
        values = values[part]
    return values


def changes_of(values):
    """Each piece that the model has, as changes that remove it."""
    for path, none in LEFT_OUT.items():
        if path.startswith("biases without"):
            if values["biases"] & none and values["biases"] != none:
                yield path, {"biases": values["biases"] & ~none}
        elif value_of(values, path) not in (none, 0.0):
            yield f"without {path}", {path: none}


def notices(count, line):
    """Leaving a piece out changes what comes after a prompt."""
    whole = decode.Model(line).prompted()
    for name, changes in changes_of(json.loads(line)):
        error = difference(decode.Model(line, **changes).prompted(), whole)
        count.check(f"{json.loads(line)['name']} {name}", error > 1e-3, f"{error:g} goes unnoticed")


def notices_rounding(count, line):
    """The router's input, and k_b and v_b, are rounded to BF16 and not left unchanged."""
    model = decode.Model(line)
    if model.fine == "bf16" and (model.experts.count or model.latent.rank):
        error = difference(decode.Model(line, fine="f32").held_steps()[0], model.logits)
        count.check(f"{model.name} {model.activations}: rounding", error > 1e-9,
                    f"{error:g} goes unnoticed")


def main():
    if not PROGRAM.exists():
        skip_all(f"{PROGRAM.name} is not built")
    printed = run("print", program=PROGRAM)
    expect(printed.returncode == DONE, printed.stderr)
    count, noticed = Count(), set()
    for line in printed.stdout.splitlines():
        agrees(count, line)
        name = json.loads(line)["name"]
        if name not in noticed:
            notices(count, line)
        noticed.add(name)
        notices_rounding(count, line)
    count.finish()


if __name__ == "__main__":
    main()

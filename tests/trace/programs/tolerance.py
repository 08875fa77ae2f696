"""A small GPT, or ops, with something changed: `tolerance.py gpt|ops|kinds [NAME=VALUE …]`."""

import sys

import torch
from torch import nn
from torch.nn import functional

what, *pairs = sys.argv[1:]
given = dict(pair.split("=") for pair in pairs)
torch.set_num_threads(int(given.get("threads", "1")))
torch.manual_seed(int(given.get("seed", "0")))
WIDTH, HEADS, LENGTH, WORDS = int(given.get("width", "64")), 4, 32, 100


class DecoderBlock(nn.Module):
    def __init__(self, number):
        super().__init__()
        changed = number == 1
        eps = float(given.get("eps", "1e-5")) if changed else 1e-5
        self.first, self.second = nn.LayerNorm(WIDTH, eps=eps), nn.LayerNorm(WIDTH)
        self.mix, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.half = changed and "half" in given
        self.gelu = given.get("gelu", "none") if changed else "none"
        self.reordered = changed and "reordered" in given
        self.nan = changed and "nan" in given
        self.gelu_by_hand = changed and "by_hand" in given
        self.relu = changed and "relu" in given

    def forward(self, x):
        size = *x.shape[:2], HEADS, WIDTH // HEADS
        query, key, value = (
            part.reshape(size).transpose(1, 2) for part in self.mix(self.first(x)).split(WIDTH, 2)
        )
        if "math" in given:
            scores = query @ key.transpose(2, 3) / (WIDTH // HEADS) ** 0.5
            hidden = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)
            mixed = scores.masked_fill(hidden, torch.finfo(x.dtype).min).softmax(3) @ value
        else:
            mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(x.shape))
        inner = self.up(self.second(x))
        if self.relu:
            inner = functional.relu(inner)
        elif self.gelu_by_hand:
            inner = 0.5 * inner * (1 + torch.tanh(0.79788456 * (inner + 0.044715 * inner**3)))
        else:
            inner = functional.gelu(inner, approximate=self.gelu)
        if self.nan:
            inner = inner / (inner > -9)[..., :1] * torch.where(inner.sum() > 1e9, 0.0, torch.nan)
        if self.half:
            down = self.down
            return x + functional.linear(
                inner.bfloat16(), down.weight.bfloat16(), down.bias.bfloat16()
            ).to(x.dtype)
        return x + self.down(inner)


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList([DecoderBlock(number) for number in range(3)])
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)

    def forward(self, words):
        x = self.words(words) + self.places(torch.arange(words.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def gpt():
    model = GPT()
    kinds = {"adam": torch.optim.AdamW, "sgd": torch.optim.SGD}
    kind = kinds[given.get("optimizer", "adam")]
    optimizer = kind(model.parameters(), lr=float(given.get("lr", "1e-3")))
    split = int(given.get("split", "1"))
    for step in range(int(given.get("steps", "2"))):
        torch.manual_seed(step)
        words = torch.randint(WORDS, (8, LENGTH + 1))
        optimizer.zero_grad()
        for part in words.chunk(split):
            loss = functional.cross_entropy(
                model(part[:, :-1]).flatten(0, 1), part[:, 1:].flatten()
            )
            (loss / split).backward()
        optimizer.step()
        if "kill" in given and step == 0:
            import os

            os._exit(0)


def ops():
    x = torch.randn(64, 16, 32, 32, requires_grad=True)
    weight = torch.randn(32, 16, 3, 3, requires_grad=True)
    picture = functional.conv2d(x, weight).relu()
    flat = picture.flatten(1)[:, :20000]
    product = flat @ torch.randn(20000, 256) / 100
    normed = functional.layer_norm(product, (256,))
    likely = (normed @ torch.randn(256, 5000)).softmax(1)
    total = likely.log().clamp(-9).sum() + picture.mean() + product.square().sum().sqrt()
    total = (
        total + picture.var() + functional.max_pool2d(picture, 2).sum() + product.cumsum(1).sum()
    )
    reordered = "reordered" in given
    (total + (x.flip(0).cumsum(0)[-1].sum() if reordered else x.sum())).backward()


def kinds():
    torch.tensor([True, False, True]).clone()
    torch.tensor([7, -9]).clone()
    torch.tensor([3.0, float("nan"), float("inf"), 4.0, float("-inf")]).clone()
    torch.tensor([1 - 2j], dtype=torch.complex64).clone()
    torch.arange(1000, dtype=torch.float16).clone()
    torch.arange(4.0).bfloat16().reshape(2, 2).clone()
    from torch.distributed import device_mesh, init_process_group, tensor

    init_process_group("gloo", init_method=f"file:///tmp/{torch.seed()}", rank=0, world_size=1)
    mesh = device_mesh.init_device_mesh("cpu", (1,))
    whole = tensor.DTensor.from_local(torch.arange(6.0).reshape(2, 3), mesh, run_check=False)
    (whole * 3).clone()


{"gpt": gpt, "ops": ops, "kinds": kinds}[what]()

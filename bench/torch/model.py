"""RNNsearch (arch "search") and the RNN encoder-decoder (arch "encdec") in PyTorch, written to be fast on a CPU.

Two implementations of the same arithmetic: "plain" is ordinary modules, "custom" has hand-written backward passes
for the recurrences and for the output layer. The gated unit is PyTorch's: reset after the product, z keeps the old
state, biases everywhere. The state is updated before the readout and sentences start with the word <s>.

Letters: T target positions, B sentences, S source positions, E embedding, H state, A attention, V vocabulary.
"""
import types

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from data import BOS, EOS, PAD, pad

DEFAULT = dict(arch="search", vs=10000, vt=10000, emb=256, hid=512, dhid=512, att=512, maxout=256, tied=False,
               drop=0.0, edrop=0.0, impl="plain")
NEVER = -1e9


def gru_gates(gi, gh, s):
    """The gated unit from its input part gi and state part gh, both (B, 3H): r, z, candidate."""
    H = s.size(1)
    rz = torch.sigmoid(gi[:, : 2 * H] + gh[:, : 2 * H])
    n = torch.tanh(torch.addcmul(gi[:, 2 * H :], rz[:, :H], gh[:, 2 * H : 3 * H]))
    return torch.lerp(n, s, rz[:, H:])


def att_gru_step(xe, s, keys, h, mask, Ws, bs, Wc, v):
    H = s.size(1)
    gh = F.linear(s, Ws, bs)  # (B, 3H + A): r z n | query, one product
    e = torch.matmul(torch.tanh(keys + gh[:, 3 * H :].unsqueeze(1)), v)
    a = torch.softmax(e + mask, 1)
    c = torch.bmm(a.unsqueeze(1), h).squeeze(1)
    return gru_gates(xe + F.linear(c, Wc), gh, s), c


def att_gru_loop(xe, s, keys, h, mask, Ws, bs, Wc, v):
    states, contexts = [], []
    for x in xe.unbind(0):
        s, c = att_gru_step(x, s, keys, h, mask, Ws, bs, Wc, v)
        states.append(s)
        contexts.append(c)
    return torch.stack(states), torch.stack(contexts)


def gru_gates_backward(ds, rz, n, hn, before, dgi, dgh):
    """Gradients of the parts gi and gh of the unit; returns the new state's share in the old one's gradient."""
    H = n.size(1)
    r, z = rz[:, :H], rz[:, H:]
    dn = ds * (1 - z) * (1 - n * n)
    dgi[:, 2 * H :] = dn
    torch.mul(dn, r, out=dgh[:, 2 * H : 3 * H])
    drz = dgi[:, : 2 * H]
    torch.mul(dn, hn, out=drz[:, :H])
    torch.mul(ds, before - n, out=drz[:, H:])
    drz *= rz * (1 - rz)
    dgh[:, : 2 * H] = drz
    return ds * z


class AttGRUFunction(torch.autograd.Function):
    """The decoder's recurrence: weight gradients as one product over all steps, those of the annotations as one
    batched product, those of the keys summed in place."""

    @staticmethod
    def forward(ctx, xe, s0, keys, h, mask, Ws, bs, Wc, v):
        T, B, _ = xe.shape
        H, S, A = s0.size(1), keys.size(1), keys.size(2)
        ss = xe.new_empty(T + 1, B, H)
        ss[0] = s0
        cs = xe.new_empty(T, B, h.size(2))
        al = xe.new_empty(T, B, S)
        RZ = xe.new_empty(T, B, 2 * H)
        N, HN = xe.new_empty(T, B, H), xe.new_empty(T, B, H)
        TH = xe.new_empty(T, B, S, A)
        gh, gi = xe.new_empty(B, 3 * H + A), xe.new_empty(B, 3 * H)
        WsT, WcT = Ws.t(), Wc.t()
        for t in range(T):
            s, th, rz, n = ss[t], TH[t], RZ[t], N[t]
            torch.addmm(bs, s, WsT, out=gh)
            torch.add(keys, gh[:, 3 * H :].unsqueeze(1), out=th)
            th.tanh_()
            e = torch.mv(th.view(B * S, A), v).view(B, S)
            e += mask
            al[t] = torch.softmax(e, 1)
            torch.bmm(al[t].unsqueeze(1), h, out=cs[t].unsqueeze(1))
            torch.addmm(xe[t], cs[t], WcT, out=gi)
            torch.add(gi[:, : 2 * H], gh[:, : 2 * H], out=rz)
            rz.sigmoid_()
            HN[t].copy_(gh[:, 2 * H : 3 * H])
            torch.addcmul(gi[:, 2 * H :], rz[:, :H], HN[t], out=n)
            n.tanh_()
            torch.lerp(n, s, rz[:, H:], out=ss[t + 1])
        ctx.save_for_backward(keys, h, Ws, Wc, v, ss, cs, al, RZ, N, HN, TH)
        return ss[1:], cs

    @staticmethod
    def backward(ctx, gss, gcs):
        keys, h, Ws, Wc, v, ss, cs, al, RZ, N, HN, TH = ctx.saved_tensors
        T, B, H = gss.shape
        S, A = keys.size(1), keys.size(2)
        dGI, dGH = gss.new_empty(T, B, 3 * H), gss.new_empty(T, B, 3 * H + A)
        dC, dE = gss.new_empty(T, B, h.size(2)), gss.new_empty(T, B, S)
        dkeys, squares = torch.zeros_like(keys), torch.empty_like(keys)
        dv = torch.zeros_like(v)
        ds = torch.zeros_like(gss[0])
        for t in range(T - 1, -1, -1):
            dgi, dgh, dc, de = dGI[t], dGH[t], dC[t], dE[t]
            ds = gru_gates_backward(ds + gss[t], RZ[t], N[t], HN[t], ss[t], dgi, dgh)
            torch.addmm(gcs[t], dgi, Wc, out=dc)
            a = al[t]
            da = torch.bmm(h, dc.unsqueeze(2)).squeeze(2)
            torch.mul(a, da - (a * da).sum(1, keepdim=True), out=de)
            dv.addmv_(TH[t].view(B * S, A).t(), de.reshape(-1))
            torch.mul(TH[t], TH[t], out=squares)  # the de of a row sum to 0, so dquery = -v * (de . tanh^2)
            dkeys.addcmul_(squares, de.unsqueeze(2), value=-1)
            torch.mul(torch.bmm(de.unsqueeze(1), squares).squeeze(1), -v, out=dgh[:, 3 * H :])
            ds = torch.addmm(ds, dgh, Ws)
        dkeys.add_(dE.sum(0).unsqueeze(2)).mul_(v)
        dh = torch.bmm(al.permute(1, 2, 0), dC.transpose(0, 1))  # (B,S,T) x (B,T,2H)
        rows = dGH.view(T * B, -1)
        dWs = rows.t() @ ss[:T].reshape(T * B, H)
        dWc = dGI.view(T * B, -1).t() @ cs.view(T * B, -1)
        return dGI, ds, dkeys, dh, None, dWs, rows.sum(0), dWc, dv


class GRUFunction(torch.autograd.Function):
    """Gated unit over input parts xe (T,B,3H) known beforehand; where m (T,B,1) is 0 the old state is kept."""

    @staticmethod
    def forward(ctx, xe, s0, W, b, m):
        T, B, _ = xe.shape
        H, WT = s0.size(1), W.t()
        ss = xe.new_empty(T + 1, B, H)
        ss[0] = s0
        RZ = xe.new_empty(T, B, 2 * H)
        N, HN = xe.new_empty(T, B, H), xe.new_empty(T, B, H)
        gh = xe.new_empty(B, 3 * H)
        for t in range(T):
            s, x, rz, hn, n = ss[t], xe[t], RZ[t], HN[t], N[t]
            torch.addmm(b, s, WT, out=gh)
            torch.add(x[:, : 2 * H], gh[:, : 2 * H], out=rz)
            rz.sigmoid_()
            if m is not None:
                rz[:, H:].sub_(1).mul_(m[t]).add_(1)  # z = 1 on padding
            hn.copy_(gh[:, 2 * H :])
            torch.addcmul(x[:, 2 * H :], rz[:, :H], hn, out=n)
            n.tanh_()
            torch.lerp(n, s, rz[:, H:], out=ss[t + 1])
        ctx.save_for_backward(W, ss, RZ, N, HN)
        return ss[1:]

    @staticmethod
    def backward(ctx, g):
        W, ss, RZ, N, HN = ctx.saved_tensors
        T, B, H = g.shape
        dGI, dGH = g.new_empty(T, B, 3 * H), g.new_empty(T, B, 3 * H)
        ds = torch.zeros_like(g[0])
        for t in range(T - 1, -1, -1):
            ds = gru_gates_backward(ds + g[t], RZ[t], N[t], HN[t], ss[t], dGI[t], dGH[t])
            ds = torch.addmm(ds, dGH[t], W)
        rows = dGH.view(T * B, -1)
        return dGI, ds, rows.t() @ ss[:T].view(T * B, H), rows.sum(0), None


class LinearCE(torch.autograd.Function):
    """Output layer, softmax and (smoothed) cross-entropy over chunks of rows that stay in cache; the gradients are
    made in the same pass."""

    @staticmethod
    def forward(ctx, t, W, b, y, eps, grad):
        V, n = W.size(0), t.size(0)
        loss = 0.0
        chunk = max(64, min(n, int(4e6) // V))
        WT = W.t()
        buffer = t.new_empty(chunk, V)
        if grad:
            dt, dW, db = torch.empty_like(t), torch.zeros_like(W), torch.zeros_like(b)
        for i in range(0, n, chunk):
            x, gold = t[i : i + chunk], y[i : i + chunk].unsqueeze(1)
            p = buffer[: x.size(0)]
            torch.addmm(b, x, WT, out=p)
            gold_logit = p.gather(1, gold)
            wanted = gold_logit
            if eps:
                wanted = (1 - eps) * gold_logit + eps / V * p.sum(1, keepdim=True)
            top = p.max(1, keepdim=True)[0]
            p.sub_(top).exp_()
            z = p.sum(1, keepdim=True)
            loss += (top + z.log() - wanted).sum()
            if grad:
                p.mul_(1 / z)
                if eps:
                    p.sub_(eps / V)
                p.scatter_add_(1, gold, torch.full_like(gold_logit, eps - 1))
                torch.mm(p, W, out=dt[i : i + chunk])
                dW.addmm_(p.t(), x)
                db += p.sum(0)
        if grad:
            ctx.save_for_backward(dt, dW, db)
        return loss

    @staticmethod
    def backward(ctx, g):
        dt, dW, db = ctx.saved_tensors
        return dt.mul_(g), dW.mul_(g), db.mul_(g), None, None, None


class NMT(nn.Module):
    def __init__(self, **config):
        super().__init__()
        c = self.c = types.SimpleNamespace(**{**DEFAULT, **config})
        self.search = c.arch == "search"
        self.semb = nn.Embedding(c.vs, c.emb, padding_idx=PAD)
        self.temb = nn.Embedding(c.vt, c.emb, padding_idx=PAD)
        self.enc = nn.GRU(c.emb, c.hid, bidirectional=self.search)
        context = 2 * c.hid if self.search else c.hid
        self.init = nn.Linear(c.hid, c.dhid)
        H = c.dhid
        if self.search:
            self.key = nn.Linear(context, c.att)
            self.Ws = nn.Parameter(torch.empty(3 * H + c.att, H))
            self.bs = nn.Parameter(torch.zeros(3 * H + c.att))
            self.Wx = nn.Linear(c.emb, 3 * H)
            self.Wc = nn.Parameter(torch.empty(3 * H, context))
            self.v = nn.Parameter(torch.empty(c.att))
        else:
            self.summ = nn.Linear(c.hid, c.hid)
            self.Whh = nn.Parameter(torch.empty(3 * H, H))
            self.bhh = nn.Parameter(torch.zeros(3 * H))
            self.Wc = nn.Linear(context, 3 * H, bias=False)
            self.Wx = nn.Linear(c.emb, 3 * H)
        self.ro = nn.Linear(H + context + c.emb, 2 * c.maxout)
        self.out = nn.Linear(c.maxout, c.vt)
        self.drop = nn.Dropout(c.drop)
        self.edrop = nn.Dropout(c.edrop)
        self.reset()
        if c.tied:
            assert c.maxout == c.emb
            self.out.weight = self.temb.weight

    def reset(self):
        for name, p in self.named_parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)
            elif name != "v":
                nn.init.zeros_(p)
        for name, p in self.named_parameters():
            if "weight_hh" in name or name in ("Ws", "Whh"):
                H = p.size(1)
                for i in range(0, p.size(0) // H * H, H):
                    nn.init.orthogonal_(p.data[i : i + H])
        for table in (self.semb, self.temb):
            nn.init.normal_(table.weight, 0, self.c.emb**-0.5)
            table.weight.data[PAD] = 0
        if self.search:
            nn.init.uniform_(self.v, -self.c.att**-0.5, self.c.att**-0.5)

    def custom(self):
        return self.c.impl == "custom" and torch.is_grad_enabled()

    def run_encoder(self, source, lengths):
        """States (S,B,H or 2H) and the last state of each direction; those of padding mean nothing."""
        x = self.edrop(self.semb(source.t()))
        padded = not bool((lengths == source.size(1)).all())
        if not self.custom():
            if not padded:
                return self.enc(x)
            h, last = self.enc(pack_padded_sequence(x, lengths, enforce_sorted=False))
            return (pad_packed_sequence(h)[0] if self.search else None), last
        enc = self.enc
        zero = x.new_zeros(source.size(0), self.c.hid)
        real = (source != PAD).t().unsqueeze(2).to(x.dtype) if padded else None
        h = GRUFunction.apply(F.linear(x, enc.weight_ih_l0, enc.bias_ih_l0), zero, enc.weight_hh_l0,
                              enc.bias_hh_l0, real)
        if not self.search:
            return h, [h[-1]]
        back = GRUFunction.apply(F.linear(x.flip(0), enc.weight_ih_l0_reverse, enc.bias_ih_l0_reverse), zero,
                                 enc.weight_hh_l0_reverse, enc.bias_hh_l0_reverse,
                                 real.flip(0) if padded else None)
        return torch.cat([h, back.flip(0)], 2), [h[-1], back[-1]]

    def encode(self, source, lengths):
        """source (B,S): annotations (B,S,2H), keys (B,S,A), s0, mask; or summary and s0."""
        h, last = self.run_encoder(source, lengths)
        if not self.search:
            c = torch.tanh(self.summ(last[0]))
            return c, torch.tanh(self.init(c))
        h = self.drop(h.transpose(0, 1).contiguous())
        mask = torch.zeros(source.shape).masked_fill_(source == PAD, NEVER)
        return h, self.key(h), torch.tanh(self.init(last[1])), mask

    def readout(self, s, c, e):
        t = self.ro(torch.cat([s, c, e], -1))
        return self.drop(t.view(*t.shape[:-1], self.c.maxout, 2).max(-1)[0])

    def forward(self, source, lengths, shifted, target, smooth=0.0):
        """Summed cross-entropy over the real target words, and their number."""
        e = self.edrop(self.temb(shifted.t()))  # (T,B,E)
        if self.search:
            h, keys, s0, mask = self.encode(source, lengths)
            loop = AttGRUFunction.apply if self.c.impl == "custom" else att_gru_loop
            ss, cs = loop(self.Wx(e), s0, keys, h, mask, self.Ws, self.bs, self.Wc, self.v)
        else:
            c, s0 = self.encode(source, lengths)
            ss = self.fixed_context_loop(self.Wx(e) + self.Wc(c), s0)
            cs = c.expand(e.size(0), -1, -1)
        y = target.t().reshape(-1)
        real = (y != PAD).nonzero().squeeze(1)
        padded = real.numel() < y.numel()

        def pick(x):
            rows = x.reshape(-1, x.size(-1))
            return rows.index_select(0, real) if padded else rows

        y = y[real] if padded else y
        t = self.readout(self.drop(pick(ss)), pick(cs), pick(e))
        if self.c.impl == "custom":
            loss = LinearCE.apply(t, self.out.weight, self.out.bias, y, smooth, torch.is_grad_enabled())
        else:
            loss = F.cross_entropy(self.out(t), y, reduction="sum", label_smoothing=smooth)
        return loss, y.numel()

    def fixed_context_loop(self, xe, s):
        if self.custom():
            return GRUFunction.apply(xe, s, self.Whh, self.bhh, None)
        states = []
        for x in xe.unbind(0):
            s = gru_gates(x, F.linear(s, self.Whh, self.bhh), s)
            states.append(s)
        return torch.stack(states)

    def start(self, source, lengths):
        """The first state and what stays fixed for a sentence, a row each."""
        if self.search:
            h, keys, s0, mask = self.encode(source, lengths)
            return s0, [h, keys, mask]
        c, s0 = self.encode(source, lengths)
        return s0, [c, self.Wc(c)]

    def step(self, y, s, fixed):
        """Logits of the word after y, and the next state."""
        e = self.temb(y)
        if self.search:
            h, keys, mask = fixed
            s, c = att_gru_step(self.Wx(e), s, keys, h, mask, self.Ws, self.bs, self.Wc, self.v)
        else:
            c, from_c = fixed
            s = gru_gates(self.Wx(e) + from_c, F.linear(s, self.Whh, self.bhh), s)
        return self.out(self.readout(s, c, e)), s


def longest(source):
    return 2 * source.size(1) + 5


@torch.inference_mode()
def greedy(model, source, lengths, limit=None, force=False):
    """Best word at each step; force: no sentence ends before the limit."""
    s, fixed = model.start(source, lengths)
    y = torch.full((source.size(0),), BOS)
    result = [[] for _ in range(source.size(0))]
    live = list(range(source.size(0)))
    for _ in range(limit or longest(source)):
        logits, s = model.step(y, s, fixed)
        if force:
            logits[:, EOS] = NEVER
        y = logits.argmax(1)
        words = y.tolist()
        keep = [j for j, word in enumerate(words) if word != EOS]
        for j in keep:
            result[live[j]].append(words[j])
        if not keep:
            break
        if len(keep) < len(words):
            live = [live[j] for j in keep]
            rows = torch.tensor(keep)
            y, s, fixed = y[rows], s[rows], [x[rows] for x in fixed]
    return result


def extend(logits, score, hypothesis, K):
    """The K best continuations of each sentence: score (n,K), hypothesis (n,K,t), row each came from (n,K)."""
    if score is None:
        score, y = torch.log_softmax(logits, 1).topk(K, 1)
        return score, y.unsqueeze(2), torch.arange(len(y)).unsqueeze(1).expand(-1, K)
    n = score.size(0)
    best, word = logits.topk(K, 1)  # more of one hypothesis cannot be among the K best
    normaliser = torch.logsumexp(logits, 1, keepdim=True)
    score, chosen = (best - normaliser + score.view(n * K, 1)).view(n, K * K).topk(K, 1)
    parent = torch.div(chosen, K, rounding_mode="floor")
    y = word.view(n, K * K).gather(1, chosen).unsqueeze(2)
    kept = hypothesis.gather(1, parent.unsqueeze(2).expand(-1, -1, hypothesis.size(2)))
    return score, torch.cat([kept, y], 2), parent + torch.arange(n).unsqueeze(1) * K


def collect(finished, live, ended, score, hypothesis):
    """Files the hypotheses under `ended` with their score a word."""
    for i, k in ended.nonzero().tolist():
        words, value = hypothesis[i, k].tolist(), score[i, k].item()
        if value > NEVER / 10:
            finished[live[i]].append((value / len(words), words[:-1] if words[-1] == EOS else words))


@torch.inference_mode()
def beam(model, source, lengths, K, limit=None, force=False):
    """Beam search, scores divided by the length; a sentence is done when K hypotheses have ended."""
    limit = limit or longest(source)
    s, fixed = model.start(source, lengths)
    y = torch.full((source.size(0),), BOS)
    finished = [[] for _ in range(source.size(0))]
    live = list(range(source.size(0)))
    score = hypothesis = None
    for t in range(limit):
        logits, s = model.step(y, s, fixed)
        logits[:, [PAD, BOS]] = NEVER
        if force:
            logits[:, EOS] = NEVER
        score, hypothesis, parent = extend(logits, score, hypothesis, K)
        ended = hypothesis[:, :, -1] == EOS
        collect(finished, live, ended if t < limit - 1 else torch.ones_like(ended), score, hypothesis)
        score = score.masked_fill(ended, NEVER)
        best = score.max(1)[0].tolist()
        keep = [i for i in range(len(live)) if len(finished[live[i]]) < K and best[i] > NEVER / 10]
        if not keep:
            break
        shrinks = len(keep) < len(live)
        rows = torch.tensor(keep)
        if shrinks:
            live = [live[i] for i in keep]
            score, hypothesis, parent = score[rows], hypothesis[rows], parent[rows]
        y, s = hypothesis[:, :, -1].reshape(-1), s[parent.reshape(-1)]
        if t == 0:
            fixed = [x[parent.reshape(-1)] for x in fixed]
        elif shrinks:
            fixed = [x[(rows.unsqueeze(1) * K + torch.arange(K)).reshape(-1)] for x in fixed]
    return [max(f)[1] if f else [] for f in finished]


def nparams(model):
    return sum(p.numel() for p in model.parameters())


def translate(model, vocab_source, vocab_target, sentences, size=64, K=1, force=False):
    """Translations in the order of the sentences. force: lengths as references have them, for random weights."""
    model.eval()
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
    result = [None] * len(sentences)
    for start in range(0, len(order), size):
        batch = order[start : start + size]
        ids = [vocab_source.ids(sentences[i]) for i in batch]
        lengths = torch.tensor([len(x) for x in ids])
        options = dict(force=True, limit=round(1.08 * float(lengths.float().mean()))) if force else {}
        if K == 1:
            found = greedy(model, pad(ids), lengths, **options)
        else:
            found = beam(model, pad(ids), lengths, K, **options)
        for i, words in zip(batch, found):
            result[i] = [vocab_target.words[word] for word in words]
    return result

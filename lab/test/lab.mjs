// Opens the page as a visitor would, in every room, and compares what it shows with what the server answers:
//   node lab.mjs ADDRESS CHROMIUM SENTENCE
// Prints what failed; exits 1 when something did, 77 when the server has no page.
import { readFileSync, readdirSync, existsSync } from 'node:fs';
import { get } from 'node:http';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import { chromium } from 'playwright-core';

const [address, browserPath, sentence] = process.argv.slice(2);
const base = address.replace(/\/$/, '');
const lab = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const rooms = [
    'translate',
    'bottleneck',
    'annotations',
    'alignment',
    'context',
    'architecture',
    'matrix',
    'explanation',
    'family',
    'glossary',
    'example',
    'quiz',
];

let failures = 0;
function fail(text) {
    failures++;
    console.log(`FAILED: ${text}`);
}
function check(fact, text) {
    if (!fact) fail(text);
}
function same(shown, wanted, text) {
    check(
        shown === wanted,
        `${text}: the page shows ${JSON.stringify(shown)}, the server says ${JSON.stringify(wanted)}`,
    );
}

async function api(name, body) {
    const answer = await fetch(
        `${base}/v1/${name}`,
        body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
    );
    const json = await answer.json();
    if (!answer.ok) throw new Error(`${name}: ${JSON.stringify(json)}`);
    return json;
}

// As the page writes them.
const shown = (s) => (s === '</s>' ? '⏎' : s === '▁' ? '␣' : s.replace(/^▁/, '').replace(/▁/g, '␣'));
const percent = (p) => (p > 0 && p < 0.001 ? '<0.1%' : `${(100 * p).toFixed(p < 0.1 ? 1 : 0)}%`);
const decimal = (x, digits = 3) => x.toFixed(digits).replace('-', '−');
const count = (n) => n.toLocaleString('en-US').replace(/,/g, '\u202f');

// ---- what needs no browser

function checkTexts() {
    const glossary = new Set(
        JSON.parse(readFileSync(`${lab}/data/glossary.json`, 'utf8')).map((entry) => entry.id),
    );
    for (const name of readdirSync(`${lab}/src/words`)) {
        const text = readFileSync(`${lab}/src/words/${name}`, 'utf8');
        for (const [, id] of text.matchAll(/\[\[([\w-]+)\|/g))
            if (id !== 'id') check(glossary.has(id), `${name}: no entry "${id}" in the glossary`);
    }
    const architecture = readFileSync(`${lab}/src/rooms/architecture.tsx`, 'utf8');
    for (const [, file] of architecture.matchAll(/'(src\/[\w/]+\.c)'/g))
        check(existsSync(path.join(lab, '..', file)), `architecture.tsx: there is no ${file}`);
}

if (!(await fetch(base)).ok) process.exit(77);

// ---- the browser

const browser = await chromium.launch({
    executablePath: browserPath,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
});
const complaints = [];

async function open(options = {}) {
    const context = await browser.newContext({
        viewport: { width: 1280, height: 900 },
        locale: 'en-US',
        ...options,
    });
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: base });
    const page = await context.newPage();
    page.setDefaultTimeout(30000);
    page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('response', (response) => {
        if (response.status() >= 400) complaints.push(`${response.status()} of ${response.url()}`);
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
        const url = request.url();
        if (!url.startsWith(base) && !url.startsWith('blob:') && !url.startsWith('data:'))
            complaints.push(`a request to ${url}`);
    });
    return page;
}

async function visit(page, room, text = sentence, more = '') {
    await page.goto(`${base}/?q=${encodeURIComponent(text)}${more}#${room}`);
    await page.locator(`main.${room}`).waitFor();
    await translated(page);
}

// page.waitForFunction would evaluate text in the page, which its security policy forbids.
async function until(page, fact, argument) {
    for (const end = Date.now() + 30000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 50)))
        if (await page.evaluate(fact, argument)) return;
    throw new Error(`never came: ${fact}`);
}

// Until the translation of what is in the box is there.
async function translated(page) {
    await until(page, () => {
        const out = document.querySelector('#translation');
        return out === null || (out.textContent !== '' && !out.classList.contains('stale'));
    });
}

async function accessible(page, where) {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() =>
        globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }),
    );
    for (const v of violations.filter((x) => ['serious', 'critical'].includes(x.impact)))
        fail(
            `${where}: axe: ${v.id}: ${v.help}: ${v.nodes
                .slice(0, 2)
                .map((n) => n.html.slice(0, 160))
                .join(' | ')}`,
        );
}

const checks = {
    async translate(page, model) {
        const answer = await api('translate', {
            model,
            text: sentence,
            beam_size: 5,
            n_best: 5,
            alignment: true,
            word_scores: true,
        });
        const hypotheses = answer.translations[0].hypotheses;
        same(await page.textContent('#translation'), hypotheses[0].text, 'translation');
        const rows = await page.locator('.hypotheses tbody tr').allInnerTexts();
        same(rows.length, hypotheses.length, 'number of translations');
        hypotheses.forEach((h, k) =>
            check(rows[k].includes(decimal(h.score)) && rows[k].includes(h.text), `translation ${k}: ${rows[k]}`),
        );
        await page.locator('.word[data-side=target]').first().hover();
        const weights = hypotheses[0].alignment[0];
        const best = weights.indexOf(Math.max(...weights));
        same(
            await page.locator(`.word[data-side=source][data-index="${best}"] .weight`).innerText(),
            percent(weights[best]),
            'weight that lights up',
        );
        await page.locator('.hypotheses input').nth(1).check();
        same(await page.textContent('#translation'), hypotheses[1].text, 'chosen translation');
        await page.getByRole('button', { name: 'Copy link' }).click();
        const link = await page.evaluate(() => navigator.clipboard.readText());
        same(new URL(link).searchParams.get('q'), sentence, 'copied link');
    },
    async bottleneck(page, model, models) {
        await page.locator('.segments label').filter({ hasText: 'your own' }).click();
        await page.locator('.growing', { hasText: sentence.split(' ').slice(0, 10).join(' ') }).waitFor();
        await page.locator('.player input').fill('3');
        const text = sentence.split(' ').slice(0, 4).join(' ');
        const other = models.find((m) => !m.attention);
        for (const [k, name] of [model, other.name].entries()) {
            const side = page.locator('.side').nth(k);
            const best = (await api('translate', { model: name, text })).translations[0].hypotheses[0].text;
            await side.locator('.said', { hasText: best }).waitFor();
            const trace = await api('trace', { model: name, source: text, target: best, sensitivity: false });
            const sums = new Array(4).fill(0);
            for (const row of trace.source_gradient)
                row.forEach((g, j) => {
                    if (trace.source_word[j] >= 0) sums[trace.source_word[j]] += g;
                });
            const total = sums.reduce((a, b) => a + b, 0);
            const pair = { model, source: text, target: best };
            const alignment = (await api('align', pair)).alignments[0];
            const score = (await api('score', { ...pair, word_scores: true })).scores[0];
            const lost = [0, 1, 2, 3].filter((j) =>
                alignment.weights.every((row, i) => {
                    const p = Math.exp(score.symbol_scores[i]);
                    return alignment.target_words[i] === '</s>' || row[j] * Math.min(1, p / 0.02) < 0.15;
                }),
            );
            await side.getByText(`${lost.length} of 4 source words lost`).waitFor();
            await side.locator('.tinted .number').first().waitFor();
            same(
                await side.locator('.tinted .number').nth(1).innerText(),
                percent(sums[1] / total),
                `${name}: share of the second word`,
            );
        }
        await page.locator('.segments label').filter({ hasText: /^off$/ }).click();
        same(await page.locator('.side').count(), 1, 'sides when attention is off');
        await page.locator('.chart').first().waitFor();
        const evaluation = models.find((m) => m.name === model).evaluation;
        if (evaluation) {
            const first = evaluation[0].by_length[0];
            check(
                (await page.locator('.chart').first().innerText()).includes(first.score.toFixed(1)),
                'the curve lacks the first score of the evaluation',
            );
        } else fail('the server tells no evaluation');
    },
    async annotations(page, model, models, trace) {
        await page.locator('.strip').first().waitFor();
        same(await page.locator('.strip').count(), 2 * trace.source_symbols.length, 'strips');
        await page.locator('.tinted button').nth(1).click();
        same(
            await page.locator('.tinted .number').nth(1).innerText(),
            percent(trace.sensitivity[1][1]),
            'sensitivity of the second annotation to its word',
        );
        await page.getByRole('button', { name: 'Step back' }).click();
        check(
            (await page.locator('.caption').innerText()).includes(shown(trace.source_symbols[0])),
            'the backward pass does not end at the first word',
        );
        // The colour of the first cell follows the sign of its number.
        const blue = await page
            .locator('.strip')
            .first()
            .evaluate((c) => {
                const d = c.getContext('2d').getImageData(0, 0, 1, 1).data;
                return d[2] > d[0];
            });
        same(blue, trace.annotations.forward[0][0] >= 0, 'sign of the first number');
    },
    async alignment(page, model, models, trace) {
        await page.locator('.picker').first().locator('label').nth(1).click();
        const step = (
            await api('trace', { model, source: sentence, target: trace.target, step: 1, sensitivity: false })
        ).step;
        await page.locator('.energies tbody tr').first().waitFor();
        const best = step.weights.indexOf(Math.max(...step.weights));
        await until(page, ([text]) => document.querySelector('.energies').innerText.includes(text), [
            decimal(step.energy[0]),
        ]);
        const rows = await page.locator('.energies tbody tr').allInnerTexts();
        step.energy.forEach((e, j) =>
            check(
                rows[j].includes(decimal(e)) && rows[j].includes(percent(step.weights[j])),
                `energy ${j}: ${rows[j]}`,
            ),
        );
        await page.locator('.stages button').nth(5).click();
        same(
            await page.locator('[data-energy]').innerText(),
            decimal(step.energy[best]),
            'energy of the word looked at most',
        );
        same(await page.locator('[data-weight]').innerText(), percent(step.weights[best]), 'its weight');
        check((await page.locator('math .lit').count()) > 0, 'no part of the equation is lit');
        const product = step.v_a.reduce((sum, v, k) => sum + v * Math.tanh(step.Wa_s[k] + step.Ua_h[best][k]), 0);
        check(Math.abs(product - step.energy[best]) < 1e-3, 'v_a tanh(W_a s + U_a h) is not the energy');
    },
    async context(page, model, models, trace) {
        const step = (
            await api('trace', { model, source: sentence, target: trace.target, step: 0, sensitivity: false })
        ).step;
        const first = page.locator('[data-next]').first();
        await first.waitFor();
        check((await first.innerText()).includes(percent(step.next[0].p)), 'probability of the likeliest word');
        const lever = page.locator('.lever').nth(1);
        await lever.focus();
        await page.keyboard.press('End');
        const weights = step.weights.map((_, j) => (j === 1 ? 1 : 0));
        const changed = (
            await api('trace', {
                model,
                source: sentence,
                target: trace.target,
                step: 0,
                sensitivity: false,
                weights,
            })
        ).step;
        await page.locator('.twin.other').first().waitFor();
        same(await lever.getAttribute('aria-valuenow'), '100', 'weight after the key End');
        const top = changed.next[0];
        await until(
            page,
            ([name, p]) =>
                [...document.querySelectorAll('[data-next]')].some(
                    (x) => x.dataset.next === name && x.innerText.includes(p),
                ),
            [top.symbol, percent(top.p)],
        );
        // By the mouse: half way down.
        const box = await page.locator('.lever .slot').nth(0).boundingBox();
        await page.mouse.move(box.x + box.width / 2, box.y + box.height - 2);
        await page.mouse.down();
        await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
        await page.mouse.up();
        same(
            await page.locator('.lever').nth(0).getAttribute('aria-valuenow'),
            '50',
            'weight after dragging it to the middle',
        );
    },
    async architecture(page, model, models) {
        const { tensors, parameters } = models.find((m) => m.name === model);
        await page.locator('[data-box=alignment]').click();
        const own = tensors
            .filter((t) => t.name.startsWith('attention.'))
            .reduce((n, t) => n + t.shape.reduce((a, b) => a * b, 1), 0);
        same(
            await page.locator('[data-count=alignment]').innerText(),
            count(own),
            'parameters of the alignment model',
        );
        check(
            (await page.locator('.room').innerText()).includes(count(parameters)),
            'the number of all parameters is missing',
        );
        await page.locator('[data-box=decoder]').focus();
        await page.keyboard.press('Enter');
        check(
            (await page.locator('.card').innerText()).includes('decoder.gru.U'),
            'the decoder does not open by key',
        );
    },
    async matrix(page, model) {
        const h = (
            await api('translate', {
                model,
                text: sentence,
                beam_size: 5,
                n_best: 5,
                alignment: true,
                word_scores: true,
            })
        ).translations[0].hypotheses[0];
        await page.locator('.heatmap').waitFor();
        same(await page.locator('.heatmap .cell').count(), h.alignment.length * h.alignment[0].length, 'cells');
        const opacity = await page.locator('.heatmap .cell[data-cell="1,0"]').getAttribute('fill-opacity');
        check(
            Math.abs(Number(opacity) - h.alignment[1][0]) < 1e-4,
            `cell 1,0: ${opacity}, not ${h.alignment[1][0]}`,
        );
        await page.locator('.heatmap svg').focus();
        await page.keyboard.press('ArrowDown');
        await page.keyboard.press('ArrowDown');
        check(
            (await page.locator('.heatmap figcaption').innerText()).includes(percent(h.alignment[1][0])),
            'arrow keys do not tell the weight of cell 1,0',
        );
        await page.getByText('Hard links').click();
        same(await page.locator('.heatmap .link').count(), h.links.length, 'links');
        for (const kind of ['SVG', 'PNG']) {
            const [download] = await Promise.all([
                page.waitForEvent('download'),
                page.getByRole('button', { name: `Download ${kind}` }).click(),
            ]);
            const bytes = readFileSync(await download.path());
            check(
                kind === 'SVG' ? bytes.includes('<svg') : bytes.subarray(1, 4).toString() === 'PNG',
                `the ${kind} is none`,
            );
        }
    },
    async explanation(page, model, models, trace) {
        const answer = await api('explain', { model, source: sentence, target: trace.target });
        const first = answer.explanations[0].target[0];
        await page.locator('.twins').first().waitFor();
        const row = await page.locator('.twins li').first().innerText();
        check(
            row.includes(first.attention[0].toFixed(3)) && row.includes(first.gradient[0].toFixed(3)),
            `attention and gradient of the first word: ${row}`,
        );
        const tau = first.tau['attention, gradient'].tau;
        if (tau !== null) same(await page.locator('[data-tau]').first().innerText(), decimal(tau, 2), 'tau');
        await page.getByRole('button', { name: 'Search for one' }).click();
        await page.getByText(/Jensen–Shannon divergence|found no different weights/).waitFor({ timeout: 120000 });
    },
    async family(page, model, models) {
        await page.locator('.timeline button').first().click();
        check(
            (await page.locator('.card').innerText()).includes('--preset rnnencdec'),
            'the timeline does not open the first model',
        );
        check(
            (await page.locator('.sheet').innerText()).includes(count(models[0].parameters)),
            'the data sheet lacks the parameters',
        );
        check(
            /holds \d+(\.\d+)? [MG]B in memory/.test(await page.locator('.room').innerText()),
            'no memory of the server',
        );
        await page.getByRole('button', { name: 'Measure' }).click();
        await page.locator('.chart').nth(1).waitFor();
        await page.getByRole('button', { name: 'Measure' }).waitFor({ timeout: 120000 });
        check((await page.locator('.room').innerText()).includes('<unk>'), 'no share of <unk>');
    },
    async glossary(page) {
        const entries = JSON.parse(readFileSync(`${lab}/data/glossary.json`, 'utf8'));
        same(await page.locator('.entry').count(), entries.length, 'entries');
    },
    async example(page) {
        const { orders } = JSON.parse(readFileSync(`${lab}/data/worked-example.json`, 'utf8'));
        const order = orders['look-first'];
        const text = await page.locator('.room').innerText();
        for (const x of [order.annotations.forward[0][0], order.steps[0].energy[0], order.steps[1].context[0]])
            check(text.includes(decimal(x, 4)), `the worked example lacks ${x}`);
    },
    async quiz(page) {
        const questions = JSON.parse(readFileSync(`${lab}/data/quiz.json`, 'utf8'));
        for (const [k, q] of questions.entries())
            await page
                .locator('.quiz > li')
                .nth(k)
                .locator('input')
                .nth(q.answers.findIndex((a) => a.right))
                .check();
        check(
            (await page.locator('.room').innerText()).includes(`${questions.length} of ${questions.length} right`),
            'right answers are not counted',
        );
    },
};

async function manners() {
    const page = await open();
    await visit(page, 'translate');

    // A glossary pop-up, by key.
    await page.locator('.term').first().focus();
    await page.keyboard.press('Enter');
    await page.locator('.popup').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.popup').waitFor({ state: 'detached' });

    // Late answers are dropped, and typing stays.
    let held = null;
    await page.route('**/v1/translate', async (route) => {
        if (JSON.parse(route.request().postData()).text === 'late') {
            held = route;
            return;
        }
        await route.continue();
    });
    await page.fill('#source', 'late');
    await until(page, () => document.querySelector('#translation').classList.contains('stale'));
    while (held === null) await new Promise((resolve) => setTimeout(resolve, 20));
    await page.fill('#source', sentence);
    await translated(page);
    const right = await page.textContent('#translation');
    await held
        .fulfill({
            json: {
                translations: [
                    {
                        hypotheses: [
                            { text: 'TOO LATE', score: 0, normalized_score: 0, words: [], source_words: [] },
                        ],
                    },
                ],
            },
        })
        .catch(() => {});
    await page.waitForTimeout(200);
    same(await page.textContent('#translation'), right, 'after a late answer');
    same(await page.inputValue('#source'), sentence, 'what was typed');
    await page.unroute('**/v1/translate');

    // Errors appear where they belong; the browser reports them on its console too.
    await page.route('**/v1/translate', (route) =>
        route.fulfill({ status: 503, json: { error: { code: 'busy', message: 'come again <b>later</b>' } } }),
    );
    const before = complaints.length;
    await page.fill('#source', `${sentence} ${sentence}`);
    await page.locator('.sentence .failure').waitFor();
    check(
        (await page.locator('.sentence .failure').innerText()).includes('come again <b>later</b>'),
        'the error is not shown as text',
    );
    complaints.splice(before);
    await page.unroute('**/v1/translate');

    // Text is text.
    await page.fill('#source', '<img src=x onerror=alert(1)> & <b>bold</b>');
    await translated(page);
    same(await page.locator('.stage img, .stage b').count(), 0, 'elements made of text');

    // The address keeps the sentence and the room.
    await page.fill('#source', sentence);
    await until(page, (s) => new URL(location.href).searchParams.get('q') === s, sentence);
    await page.locator('nav a').nth(6).click();
    await page.locator('h1', { hasText: 'The matrix' }).waitFor();
    check(page.url().endsWith('#matrix'), 'the address lacks the room');
    same(await page.evaluate(() => document.activeElement.tagName), 'H1', 'focus after going to a room');
    await page.context().close();
}

// Models of other kinds: a room shows what it can, or says why not, and nothing fails.
async function kinds(models) {
    const page = await open();
    for (const { name } of models.slice(1))
        for (const room of rooms.slice(0, 9)) {
            await visit(page, room, sentence, `&model=${name}`);
            await until(page, () => document.querySelector('.waiting') === null);
            same(await page.locator('.failure').count(), 0, `${name}, ${room}: failures`);
        }
    await page.context().close();
}

async function looks() {
    for (const [name, options, more] of [
        ['phone', { viewport: { width: 360, height: 740 } }, ''],
        ['wide', { viewport: { width: 1600, height: 1000 } }, ''],
        ['dark', { colorScheme: 'dark' }, ''],
        ['French', { viewport: { width: 360, height: 740 } }, '&lang=fr'],
        ['Arabic', { viewport: { width: 360, height: 740 } }, '&lang=ar'],
    ]) {
        const page = await open(options);
        for (const room of rooms) {
            await visit(page, room, sentence, more);
            await page.waitForTimeout(300);
            const over = await page.evaluate(
                () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
            );
            check(over <= 0, `${name}, ${room}: the page is ${over} px too wide`);
            if (name !== 'wide') await accessible(page, `${name}, ${room}`);
            if (name === 'Arabic')
                same(await page.evaluate(() => document.documentElement.dir), 'rtl', 'direction in Arabic');
        }
        await page.context().close();
    }
}

// As it goes over the wire.
function compressed(url) {
    return new Promise((resolve, reject) => {
        get(url, { headers: { 'accept-encoding': 'gzip' } }, (answer) => {
            let bytes = 0;
            answer.on('data', (chunk) => (bytes += chunk.length));
            answer.on('end', () => resolve(bytes));
        }).on('error', reject);
    });
}

async function size() {
    const page = await open();
    const files = new Set();
    page.on('response', (response) => {
        if (!response.url().includes('/v1/')) files.add(response.url());
    });
    await visit(page, 'translate');
    await page.context().close();
    const bytes = await Promise.all([...files].map(compressed));
    const sum = bytes.reduce((a, b) => a + b, 0);
    check(files.size >= 3 && sum <= 300000, `the page is ${files.size} files of ${sum} bytes`);
}

try {
    checkTexts();
    const { models } = await api('models');
    const model = models.find((m) => m.attention).name;
    const target = (await api('translate', { model, text: sentence, beam_size: 5, n_best: 5 })).translations[0]
        .hypotheses[0].text;
    const trace = await api('trace', { model, source: sentence, target, sensitivity: true });
    const page = await open();
    for (const room of rooms) {
        try {
            await visit(page, room);
            await checks[room](page, model, models, trace);
            await accessible(page, room);
        } catch (error) {
            fail(`${room}: ${error.message.split('\n').slice(0, 4).join(' ')}`);
        }
    }
    await page.context().close();
    await manners();
    await kinds(models);
    await looks();
    await size();
    for (const complaint of new Set(complaints)) fail(`the browser says: ${complaint}`);
} catch (error) {
    fail(error.stack);
}
await browser.close();
process.exit(failures > 0 ? 1 : 0);

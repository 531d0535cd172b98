import type { FunctionComponent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { examplesOf } from './examples';
import { LabContext, rooms, sides, useLab, useLabState, type Place, type Theme } from './lab';
import { Failure, Waiting } from './parts/notice';
import { GlossaryPopup } from './parts/term';
import { Alignment } from './rooms/alignment';
import { Annotations } from './rooms/annotations';
import { Architecture } from './rooms/architecture';
import { Bottleneck } from './rooms/bottleneck';
import { Context } from './rooms/context';
import { Explanation } from './rooms/explanation';
import { Family } from './rooms/family';
import { Matrix } from './rooms/matrix';
import { Translate } from './rooms/translate';
import { Example } from './side/example';
import { Glossary } from './side/glossary';
import { Quiz } from './side/quiz';
import { languages, type Language } from './words';

const views: Record<Place, FunctionComponent> = {
    translate: Translate,
    bottleneck: Bottleneck,
    annotations: Annotations,
    alignment: Alignment,
    context: Context,
    architecture: Architecture,
    matrix: Matrix,
    explanation: Explanation,
    family: Family,
    glossary: Glossary,
    example: Example,
    quiz: Quiz,
};

function Navigation() {
    const { words, place } = useLab();
    const current = useRef<HTMLAnchorElement>(null);
    useEffect(() => {
        // After the direction of the page is known.
        const timer = setTimeout(() => current.current?.scrollIntoView({ block: 'nearest', inline: 'center' }));
        return () => clearTimeout(timer);
    }, [place, words]);
    const link = (to: Place, number: number | null) => (
        <li key={to}>
            <a
                href={`#${to}`}
                aria-current={place === to ? 'page' : undefined}
                ref={place === to ? current : undefined}
            >
                <span class="number" aria-hidden="true">
                    {number ?? '·'}
                </span>
                {words[to].title}
            </a>
        </li>
    );
    return (
        <nav aria-label={words.rooms}>
            <ol>{rooms.map((room, i) => link(room, i + 1))}</ol>
            <ul aria-label={words.also}>{sides.map((side) => link(side, null))}</ul>
        </nav>
    );
}

function Settings() {
    const lab = useLab();
    const { words } = lab;
    const models = lab.models.data?.models ?? [];
    return (
        <div class="settings">
            {models.length > 1 && (
                <label>
                    <span>{words.model}</span>
                    <select value={lab.model?.name} onChange={(e) => lab.setModel(e.currentTarget.value)}>
                        {models.map((m) => (
                            <option key={m.name} value={m.name}>
                                {m.name}
                            </option>
                        ))}
                    </select>
                </label>
            )}
            <label>
                <span>{words.language}</span>
                <select value={lab.language} onChange={(e) => lab.setLanguage(e.currentTarget.value as Language)}>
                    {Object.entries(languages).map(([id, l]) => (
                        <option key={id} value={id} lang={id}>
                            {l.name}
                        </option>
                    ))}
                </select>
            </label>
            <label>
                <span>{words.theme.label}</span>
                <select value={lab.theme} onChange={(e) => lab.setTheme(e.currentTarget.value as Theme)}>
                    {(['auto', 'light', 'dark'] as const).map((t) => (
                        <option key={t} value={t}>
                            {words.theme[t]}
                        </option>
                    ))}
                </select>
            </label>
        </div>
    );
}

// The sentence is everywhere, and so is its translation.
function Sentence() {
    const lab = useLab();
    const { words, translated, hypotheses, chosen } = lab;
    const box = useRef<HTMLTextAreaElement>(null);
    useEffect(() => {
        const area = box.current;
        if (area === null) return;
        area.style.height = 'auto';
        area.style.height = `${area.scrollHeight + 2}px`;
    }, [lab.source, lab.place]);
    const best = hypotheses[chosen];
    return (
        <section class="sentence" aria-label={words.sentence}>
            <div class="in">
                <label for="source">
                    {words.sentence}
                    {lab.model?.source ? ` (${lab.model.source})` : ''}
                </label>
                <textarea
                    id="source"
                    ref={box}
                    dir="auto"
                    rows={1}
                    spellcheck={false}
                    maxLength={2000}
                    value={lab.source}
                    placeholder={words.nothing}
                    onInput={(e) => lab.setSource(e.currentTarget.value)}
                />
                {lab.model !== null && (
                    <div class="examples" role="group" aria-label={words.examples}>
                        {examplesOf(lab.model).map((example, i) => (
                            <button
                                type="button"
                                key={example}
                                class="chip"
                                dir="auto"
                                title={example}
                                aria-label={`${words.examples} ${i + 1}: ${example}`}
                                aria-pressed={lab.source === example}
                                onClick={() => lab.setSource(example)}
                            >
                                {example}
                            </button>
                        ))}
                    </div>
                )}
            </div>
            <div class="out" aria-live="polite">
                <span class="label">
                    {words.translation}
                    {lab.model?.target ? ` (${lab.model.target})` : ''}
                </span>
                <output for="source" dir="auto" class={translated.waiting ? 'stale' : ''} id="translation">
                    {best?.text ?? ''}
                </output>
                {translated.waiting && <Waiting />}
                {translated.error !== null && <Failure message={translated.error} />}
            </div>
        </section>
    );
}

function RoomView() {
    const lab = useLab();
    const { words, place } = lab;
    const title = useRef<HTMLHeadingElement>(null);
    const [first, setFirst] = useState(true);
    useEffect(() => {
        // Who went to another room hears its name; who just came keeps the focus where it is.
        if (first) setFirst(false);
        else {
            title.current?.focus({ preventScroll: true });
            scrollTo({ top: 0 });
        }
        document.title = `${words[place].title} · ${words.title}`;
    }, [place, words]);
    const all: Place[] = [...rooms, ...sides];
    const at = all.indexOf(place);
    const View = views[place];
    return (
        <main id="room" class={`room ${place}`}>
            <header>
                {at < rooms.length && <p class="kicker">{words.room(at + 1)}</p>}
                <h1 ref={title} tabIndex={-1}>
                    {words[place].title}
                </h1>
                <p class="question">{words[place].question}</p>
            </header>
            <View />
            <footer class="onwards">
                {at > 0 && (
                    <a class="previous" href={`#${all[at - 1]}`}>
                        <small>{words.previous}</small>
                        {words[all[at - 1]].title}
                    </a>
                )}
                {at + 1 < all.length && (
                    <a class="next" href={`#${all[at + 1]}`}>
                        <small>{words.next}</small>
                        {words[all[at + 1]].title}
                    </a>
                )}
            </footer>
        </main>
    );
}

export function App() {
    const lab = useLabState();
    const { words, models } = lab;
    const withSentence = lab.place !== 'glossary' && lab.place !== 'example' && lab.place !== 'quiz';
    return (
        <LabContext.Provider value={lab}>
            <a
                class="skip"
                href="#room"
                onClick={(e) => {
                    e.preventDefault();
                    document.querySelector<HTMLElement>('h1')?.focus();
                }}
            >
                {words.skip}
            </a>
            <div class="page">
                <header class="top">
                    <div class="brand">
                        <p class="name">{words.title}</p>
                        <p class="tagline">{words.tagline}</p>
                    </div>
                    <Settings />
                </header>
                <Navigation />
                <div class="stage">
                    {models.error !== null && <Failure message={`${words.noServer} ${models.error}`} />}
                    {withSentence && <Sentence />}
                    <RoomView />
                </div>
            </div>
            <GlossaryPopup />
        </LabContext.Provider>
    );
}

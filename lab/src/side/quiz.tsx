import { useState } from 'preact/hooks';
import quiz from '../../data/quiz.json';
import { rooms, useLab } from '../lab';
import type { Language } from '../words';

interface Question {
    id: string;
    room: number; // counted from 1
    question: Record<Language, string>;
    answers: { text: Record<Language, string>; right: boolean }[];
    why: Record<Language, string>;
}

const questions = quiz as Question[];

export function Quiz() {
    const { words, language } = useLab();
    const w = words.quiz;
    const [given, setGiven] = useState<Record<string, number>>({});
    const right = questions.filter((q) => q.answers[given[q.id]]?.right).length;
    return (
        <>
            <ol class="quiz">
                {questions.map((q, n) => {
                    const answer = given[q.id];
                    const room = rooms[q.room - 1];
                    return (
                        <li key={q.id}>
                            <fieldset>
                                <legend>
                                    {n + 1}. {q.question[language]}
                                </legend>
                                {q.answers.map((a, k) => (
                                    <label
                                        key={k}
                                        class={
                                            answer === undefined
                                                ? undefined
                                                : a.right
                                                  ? 'right'
                                                  : k === answer
                                                    ? 'wrong'
                                                    : undefined
                                        }
                                    >
                                        <input
                                            type="radio"
                                            name={q.id}
                                            checked={answer === k}
                                            onChange={() => setGiven({ ...given, [q.id]: k })}
                                        />
                                        <span>{a.text[language]}</span>
                                    </label>
                                ))}
                            </fieldset>
                            <div aria-live="polite">
                                {answer !== undefined && (
                                    <p>
                                        <strong>{q.answers[answer].right ? w.right : w.wrong}</strong>{' '}
                                        {q.why[language]}{' '}
                                        {room && (
                                            <a href={`#${room}`}>
                                                {w.see}: {words[room].title}
                                            </a>
                                        )}
                                    </p>
                                )}
                            </div>
                        </li>
                    );
                })}
            </ol>
            <p class="figure">{w.score(right, questions.length)}</p>
        </>
    );
}

import { useLab } from '../lab';
import { entries } from '../parts/term';

export function Glossary() {
    const { language } = useLab();
    const order = new Intl.Collator(language);
    const sorted = [...entries].sort((a, b) => order.compare(a.term[language], b.term[language]));
    return (
        <dl class="glossary">
            {sorted.map((entry) => (
                <div class="entry" key={entry.id} id={`entry-${entry.id}`}>
                    <dt>{entry.term[language]}</dt>
                    <dd>
                        <p>{entry.text[language]}</p>
                        <p class="languages">
                            {(['en', 'fr', 'ar'] as const)
                                .filter((l) => l !== language)
                                .map((l) => (
                                    <span key={l} lang={l} dir="auto">
                                        {entry.term[l]}
                                    </span>
                                ))}
                        </p>
                    </dd>
                </div>
            ))}
        </dl>
    );
}

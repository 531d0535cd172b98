import { useLab } from '../lab';
import { entries, OtherLanguages } from '../parts/term';

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
                        <OtherLanguages entry={entry} language={language} />
                    </dd>
                </div>
            ))}
        </dl>
    );
}

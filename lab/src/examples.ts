import type { Model } from './types';

// Sentences to begin with, by the language that the model reads. The first four are those of the matrix: each shows
// something in its alignment. The first of English is the one of the paper's figure 3 (a).
const sentences: Record<string, string[]> = {
    en: [
        'The agreement on the European Economic Area was signed in August 1992.',
        'The selected text is displayed in the upper right corner.',
        'I do not know whether they have already left.',
        'The young woman in the white dress gave him a red apple.',
        'Click the icon to open the file.',
    ],
    fr: [
        "L'accord sur la zone économique européenne a été signé en août 1992.",
        'La jeune femme en robe blanche lui a donné une pomme rouge.',
        'Je ne sais pas s’ils sont déjà partis.',
        'Un homme joue de la guitare dans la rue.',
    ],
    de: [
        'Zwei junge Männer spielen am Strand Fußball.',
        'Ich habe ihm gestern das rote Buch gegeben.',
        'Eine Frau in einem weißen Kleid steht vor einem alten Haus.',
        'Der Hund, der im Garten schläft, gehört meinem Nachbarn.',
    ],
};

// For the bottleneck: it grows word by word to sixty.
const long: Record<string, string> = {
    en:
        'The young woman who lives in the old house near the river told us that she had seen the man with the red car, ' +
        'who had come from the city early in the morning to buy some bread, and that he had asked her the way to the station ' +
        'because his brother was waiting there for the train to Paris with two large bags',
    fr:
        'La jeune femme qui habite dans la vieille maison près de la rivière nous a dit qu’elle avait vu l’homme à la voiture rouge, ' +
        'qui était venu de la ville tôt le matin pour acheter du pain, et qu’il lui avait demandé le chemin de la gare ' +
        'parce que son frère y attendait le train pour Paris avec deux grands sacs et un petit chien noir',
    de:
        'Die junge Frau, die in dem alten Haus am Fluss wohnt, hat uns erzählt, dass sie den Mann mit dem roten Auto gesehen hat, ' +
        'der früh am Morgen aus der Stadt gekommen war, um Brot zu kaufen, und dass er sie nach dem Weg zum Bahnhof gefragt hat, ' +
        'weil sein Bruder dort mit zwei großen Taschen und einem kleinen schwarzen Hund auf den Zug nach Paris wartete',
};

function languageOf(model: Model): string {
    const language = (model.source ?? 'en').slice(0, 2);
    return language in sentences ? language : 'en';
}

export function examplesOf(model: Model): string[] {
    return sentences[languageOf(model)];
}

export function longExampleOf(model: Model): string {
    return long[languageOf(model)];
}

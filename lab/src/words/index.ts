import { ar } from './ar';
import { en } from './en';
import { fr } from './fr';

type Shape<T> = {
    [K in keyof T]: T[K] extends string
        ? string
        : T[K] extends (...a: infer A) => string
          ? (...a: A) => string
          : Shape<T[K]>;
};
export type Words = Shape<typeof en>;
export type Language = 'en' | 'fr' | 'ar';

export const languages: Record<Language, Words> = { en, fr, ar };

import 'preact';

// Attributes of MathML that the types of preact leave out.
declare module 'preact' {
    namespace JSX {
        interface MathMLAttributes {
            displaystyle?: 'true';
            stretchy?: 'true' | 'false';
            mathvariant?: 'normal';
        }
    }
}

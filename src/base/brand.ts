/**
 * Branded types: a value that only its checker can make.
 *
 * `Brand<string, 'AbsoluteName'>` is a string at run time; the compiler refuses a plain string where it is asked for.
 * Brands add up: a value may be of two kinds at once.
 */
declare const kind: unique symbol;

export type Brand<Base, Kind extends string> = Base & { readonly [kind]: { readonly [Name in Kind]: true } };

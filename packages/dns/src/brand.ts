/**
 * Branded types: a value that only its checker can create.
 *
 * `Brand<string, 'AbsoluteName'>` is a string at run time, but the compiler rejects a plain string in its place. Brands
 * add up: a value may have two of them.
 */
declare const kind: unique symbol;

export type Brand<Base, Kind extends string> = Base & { readonly [kind]: { readonly [Name in Kind]: true } };

/**
 * Words that every object of JavaScript answers to. Foreign data may hold each of them as a word like any other.
 */
export const PROPERTY_NAMES: readonly string[] = [
  ...Object.getOwnPropertyNames(Object.prototype),
  ...['prototype', 'length', 'name', 'arguments', 'caller', 'then', 'toJSON'],
];

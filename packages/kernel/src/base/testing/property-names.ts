/**
 * Names of properties that every JavaScript object has. Foreign data may use each of them as an ordinary word.
 */
export const PROPERTY_NAMES: readonly string[] = [
  ...Object.getOwnPropertyNames(Object.prototype),
  'prototype',
  'length',
  'name',
  'arguments',
  'caller',
  'then',
  'toJSON',
];

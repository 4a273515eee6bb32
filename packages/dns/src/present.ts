/**
 * Records and questions as one line of text, as in zone files and `dig`: for logs, tests and people.
 */
import { className, typeName } from './mnemonics.ts';
import { presentData, typeOfData } from './record-data.ts';
import type { Question, ResourceRecord } from './types.ts';

/** `name ttl class type data`, with single spaces. */
export function presentRecord(record: ResourceRecord): string {
  const type = typeName(typeOfData(record.data));
  return `${record.name} ${record.ttl} ${className(record.class)} ${type} ${presentData(record.data)}`;
}

/** `name class type`. */
export function presentQuestion(question: Question): string {
  return `${question.name} ${className(question.class)} ${typeName(question.type)}`;
}

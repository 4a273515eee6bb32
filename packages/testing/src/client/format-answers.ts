/**
 * The answers of a message as a test compares them.
 */
import { typeName } from '@portolan/dns/mnemonics.ts';
import { presentData, typeOfData } from '@portolan/dns/record-data.ts';
import type { Message } from '@portolan/dns/types.ts';

/** Each as `name type data`, in their order. */
export function formatAnswers({ answers }: Message): readonly string[] {
  return answers.map(({ name, data }) => `${name} ${typeName(typeOfData(data))} ${presentData(data)}`);
}

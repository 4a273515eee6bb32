/**
 * Counts the answers that the handler chain gives, where the table's readers count theirs.
 */
import type { AnswerSlowly } from '../listen/types.ts';
import { Counters } from '../table/counters.ts';

const HEADER_OCTETS = 12;
const TYPE_OTHER = 0;

/**
 * @param words the table's memory
 * @param reader the main thread's own number among the readers
 */
export function countAnswers(answerSlowly: AnswerSlowly, words: Uint32Array, reader: number): AnswerSlowly {
  const counters = new Counters(words, reader);
  return async (query, client) => {
    const response = await answerSlowly(query, client);
    if (response !== undefined) counters.count(questionType(response), (response[3] ?? 0) & 15, 0);
    return response;
  };
}

/** The type of the question of a response of ours: its names are whole and uncompressed there. */
function questionType(response: Uint8Array): number {
  if (((response[4] ?? 0) << 8) + (response[5] ?? 0) !== 1) return TYPE_OTHER;
  let position = HEADER_OCTETS;
  for (let length = response[position] ?? 0; length > 0; length = response[position] ?? 0)
    position += length + 1;
  return ((response[position + 1] ?? 0) << 8) + (response[position + 2] ?? 0);
}

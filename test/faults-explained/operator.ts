/**
 * Somebody on call who knows one symptom, runs one command, and believes the first cause that its text names.
 */
import { runToEnd } from '../support/control.ts';
import { runPortolan } from '../support/portolan.ts';

export interface NamedCause {
  /** As in the page of reasons. */
  readonly cause: string | undefined;
  /** The sentence beside it. */
  readonly sentence: string;
  readonly text: string;
}

/** One name does not resolve. */
export async function explainName(socket: string, name: string, words: readonly string[] = []) {
  const { text, errors } = await runToEnd('explain', `--socket=${socket}`, name, ...words);
  const [, cause] = /^ {2}reason +(\S+)$/m.exec(text) ?? [];
  return { cause, sentence: text.split('\n')[0] ?? '', text: text + errors } satisfies NamedCause;
}

/** Something is wrong with DNS. */
export async function examine(socket: string, words: readonly string[] = []): Promise<NamedCause> {
  return readFirstCause(await runToEnd('doctor', `--socket=${socket}`, ...words));
}

/** Something is wrong with DNS on one node. @param through runs a command there */
export async function examineNode(
  through: readonly string[],
  words: readonly string[] = [],
): Promise<NamedCause> {
  const program = runPortolan(['doctor', '--on-node', ...words], { through });
  await program.exit;
  return readFirstCause({ text: program.output, errors: program.errors });
}

function readFirstCause({ text, errors }: { readonly text: string; readonly errors: string }): NamedCause {
  const [, cause, sentence = ''] = /^(?:PROBLEM|RISK) +(\S+) +(.*)$/m.exec(text) ?? [];
  return { cause, sentence, text: text + errors };
}

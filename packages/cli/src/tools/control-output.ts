/**
 * Sends a request to the control socket, and prints what the server replies.
 */
import { formatElapsed } from '@portolan/kernel/base/duration.ts';
import type { ControlFlags } from '@portolan/ops/control/settings/control-flags.ts';
import type { ControlRequest } from '@portolan/server/observe/control/protocol.ts';
import { ExitError } from '../grammar/exit.ts';
import { outputClosed, printPiece } from '../process/outputs.ts';

/** Prints data as text. @returns the text with its newlines */
export type Render = (data: unknown) => string;

/**
 * @param nothing what to print as text if there is no reply
 * @throws ExitError after the reason is printed: 3 if no server can be asked, 1 if it does not carry the request out
 */
export async function printRequest(
  command: string,
  { socket, output: given }: ControlFlags,
  request: ControlRequest,
  render: Render,
  nothing = '',
): Promise<void> {
  const output = checkOutput(command, given);
  let replies = 0;
  for await (const data of requestOrFail(command, socket, request)) {
    replies += 1;
    await printPiece(output === 'json' ? `${JSON.stringify(data)}\n` : render(data));
  }
  if (replies === 0 && output === 'text') await printPiece(nothing);
}

/** @throws ExitError with 2 for an unknown format, after it is printed */
export function checkOutput(command: string, output = 'text'): 'text' | 'json' {
  if (output === 'text' || output === 'json') return output;
  return fail(command, `--output: unknown: "${output}". Give text or json.`, 2);
}

/** Ends when nobody reads standard output. @throws ExitError after the reason is printed */
export async function* requestOrFail(
  command: string,
  socket: string | undefined,
  request: ControlRequest,
): AsyncIterable<unknown> {
  const { requestControl, NoServerError } = await import(
    '@portolan/server/observe/control/control-client.ts'
  );
  try {
    yield* requestControl(socket, request, outputClosed);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    fail(command, error.message, error instanceof NoServerError ? 3 : 1);
  }
}

export function fail(command: string, reason: string, code: ExitError['code']): never {
  process.stderr.write(`portolan ${command}: ${reason}\n`);
  throw new ExitError(code);
}

/** Fields of replies that are durations in milliseconds. */
const DURATIONS: ReadonlySet<string> = new Set(['age', 'left', 'since', 'lastReply', 'roundTrip']);

/** Nested fields on lines of their own: `data.age  2.5s`. */
export function renderFields(data: unknown): string {
  return `${listLines('', '', data).join('\n')}\n`;
}

/** @param name of the innermost field */
function listLines(path: string, name: string, value: unknown): readonly string[] {
  if (Array.isArray(value)) {
    if (value.every((item) => typeof item !== 'object'))
      return value.length === 0
        ? []
        : [`${path}  ${value.map((item) => renderValue(name, item)).join('  ')}`];
    return value.flatMap((item: unknown) => `${path}  ${renderOnOneLine(name, item)}`);
  }
  if (typeof value !== 'object' || value === null)
    return value === undefined ? [] : [`${path}  ${renderValue(name, value)}`];
  return Object.entries(value).flatMap(([inner, field]) =>
    listLines(path === '' ? inner : `${path}.${inner}`, inner, field),
  );
}

function renderOnOneLine(name: string, value: unknown): string {
  if (typeof value !== 'object' || value === null) return renderValue(name, value);
  return Object.entries(value)
    .flatMap(([inner, field]) =>
      field === undefined || field === null ? [] : `${inner}=${renderValue(inner, field)}`,
    )
    .join(' ');
}

function renderValue(name: string, value: unknown): string {
  if (typeof value !== 'number') return String(value);
  if (DURATIONS.has(name)) return formatElapsed(value);
  return String(Number(value.toFixed(3)));
}

/**
 * Sends a request to the control socket, and prints what the server replies.
 */
import type { ControlFlags } from '../config/control/control-flags.ts';
import type { ControlRequest } from '../observe/control/protocol.ts';
import { ExitError } from './exit.ts';
import { outputClosed, printPiece } from './outputs.ts';

/** Prints data as text. @returns the text with its newlines */
export type Render = (data: unknown) => string;

/** @throws ExitError after the reason is printed: 3 if no server can be asked, 1 if it does not carry the request out */
export async function printRequest(
  command: string,
  { socket, output = 'text' }: ControlFlags,
  request: ControlRequest,
  render: Render = renderFields,
): Promise<void> {
  if (output !== 'text' && output !== 'json')
    fail(command, `--output: unknown: "${output}". Give text or json.`, 2);
  for await (const data of requestOrFail(command, socket, request))
    await printPiece(output === 'json' ? `${JSON.stringify(data)}\n` : render(data));
}

/** Ends when nobody reads standard output. @throws ExitError after the reason is printed */
export async function* requestOrFail(
  command: string,
  socket: string | undefined,
  request: ControlRequest,
): AsyncIterable<unknown> {
  const { requestControl, NoServerError } = await import('../observe/control/control-client.ts');
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

/** Nested fields on lines of their own: `data.age 400`. */
export function renderFields(data: unknown): string {
  return `${linesOf('', data).join('\n')}\n`;
}

function linesOf(path: string, value: unknown): readonly string[] {
  if (Array.isArray(value)) {
    if (value.every((item) => typeof item !== 'object'))
      return value.length === 0 ? [] : [`${path}  ${value.join('  ')}`];
    return value.flatMap((item: unknown) => `${path}  ${inline(item)}`);
  }
  if (typeof value !== 'object' || value === null)
    return value === undefined ? [] : [`${path}  ${String(value)}`];
  return Object.entries(value).flatMap(([name, field]) =>
    linesOf(path === '' ? name : `${path}.${name}`, field),
  );
}

function inline(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .flatMap(([name, field]) => (field === undefined || field === null ? [] : `${name}=${String(field)}`))
    .join(' ');
}

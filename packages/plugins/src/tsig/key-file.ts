/**
 * Reads files of keys in the form of named.conf, as `tsig-keygen` writes them.
 */

/** A key as it is written. */
export interface WrittenKey {
  readonly name: string;
  readonly algorithm: string | undefined;
  readonly secret: string;
}

/** A file does not have the form of a file of keys. */
export class KeyFileError extends Error {
  override readonly name = 'KeyFileError';
}

const KEY = /^key\s+"?([^\s"{;]+)"?\s*\{([^{}]*)\}\s*;?\s*/;
const STATEMENT = /^\s*(algorithm|secret)\s+"?([^\s";]+)"?\s*;\s*/;

/** @throws KeyFileError */
export function readKeyFile(text: string): readonly WrittenKey[] {
  const keys: WrittenKey[] = [];
  let rest = withoutComments(text).trimStart();
  while (rest !== '') {
    const [whole = '', name = '', body = ''] = KEY.exec(rest) ?? [];
    if (whole === '') throw new KeyFileError(`unexpected token ${JSON.stringify(rest.split(/\s/)[0])}`);
    keys.push({ name, ...readBody(body, name) });
    rest = rest.slice(whole.length);
  }
  return keys;
}

/** A secret may have slashes, so texts in quotation marks are passed over. */
const TEXT_OR_COMMENT = /"[^"\n]*"|\/\*[\s\S]*?(?:\*\/|$(?![\s\S]))|(?:\/\/|#).*$/gm;

function withoutComments(text: string): string {
  return text.replaceAll(TEXT_OR_COMMENT, (found) => (found.startsWith('"') ? found : ' '));
}

function readBody(body: string, name: string): Omit<WrittenKey, 'name'> {
  const found = new Map<string, string>();
  let rest = body.trimStart();
  while (rest !== '') {
    const [whole = '', word = '', value = ''] = STATEMENT.exec(rest) ?? [];
    if (whole === '') throw new KeyFileError(`unexpected token ${JSON.stringify(rest.split(/\s/)[0])}`);
    found.set(word, value);
    rest = rest.slice(whole.length);
  }
  const secret = found.get('secret');
  if (secret === undefined) throw new KeyFileError(`expected secret for key ${JSON.stringify(name)}`);
  return { secret, algorithm: found.get('algorithm') };
}

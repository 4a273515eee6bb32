/**
 * A cursor over the words of an example, for the conformance kit.
 */

/** @returns a cursor, and the faults that it has recorded */
export function makeCursor(text, name) {
  const tokens = readTokens(text);
  const heads = findHeads(tokens, name);
  const faults = [];
  let at = -1;
  let depth = 0;
  const token = () => tokens[Math.max(at, 0)];
  const next = () => tokens[at + 1];
  const sharesLine = (one, other) => one.position.line === other.position.line;
  const advance = () => {
    if (next() === undefined) return false;
    at += 1;
    return true;
  };
  const guard = (read, recover) => {
    try {
      read();
    } catch (error) {
      faults.push(describeError(error));
      recover();
    }
  };
  const skipUse = () => {
    depth = 0;
    while (next() !== undefined && !heads.has(next())) advance();
  };
  const skipLine = () => {
    let open = 0;
    for (let word = next(); word !== undefined; word = next()) {
      if (open === 0 && (word.text === '}' || !sharesLine(token(), word))) return;
      if (word.text === '{') open += 1;
      if (word.text === '}') open -= 1;
      advance();
    }
  };
  const cursor = {
    get word() {
      return token().text;
    },
    whole(read) {
      try {
        return read(readUses(tokens, heads));
      } catch (error) {
        faults.push(describeError(error));
        return undefined;
      }
    },
    firstUse(read) {
      if (advance()) guard(read, skipUse);
    },
    eachUse(read) {
      while (advance()) guard(read, skipUse);
    },
    hasMore: () => next() !== undefined,
    argument() {
      const word = next();
      if (word === undefined || !sharesLine(token(), word)) return undefined;
      advance();
      return word.text;
    },
    remainingArguments() {
      const words = [];
      while (next() !== undefined && next().text !== '{' && sharesLine(token(), next())) {
        words.push(next().text);
        advance();
      }
      return words;
    },
    nextInBlock() {
      if (depth === 0) {
        const word = next();
        if (word === undefined || word.text !== '{' || !sharesLine(token(), word)) return false;
        advance();
        if (!advance() || token().text === '}') return false;
        depth = 1;
        return true;
      }
      if (!advance()) return false;
      if (token().text !== '}') return true;
      depth -= 1;
      return false;
    },
    guardLine: (read) => guard(read, skipLine),
    error: (fault, remedy) => Object.assign(new Error(fault), { remedy }),
    bareError: (message, remedy) => Object.assign(new Error(message), { remedy }),
    argumentError: (remedy) =>
      Object.assign(new Error(`Wrong argument count or unexpected line ending after '${token().text}'`), {
        remedy,
      }),
  };
  return { cursor, faults };
}

/** Words and braces, with quotation marks as in a Corefile. */
function readTokens(text) {
  return text.split('\n').flatMap((line, index) =>
    [...line.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(([, quoted, bare]) => ({
      text: quoted?.replaceAll('\\"', '"') ?? bare,
      position: { file: 'example', line: index + 1 },
    })),
  );
}

/** The words of the plugin that begin a use. @throws Error where another word does */
function findHeads(tokens, name) {
  const heads = new Set();
  let depth = 0;
  let line = 0;
  for (const token of tokens) {
    const isFirst = token.position.line !== line;
    line = token.position.line;
    if (depth === 0 && isFirst && token.text !== '}') {
      if (token.text !== name) throw new Error(`an example of ${name} begins with ${token.text}`);
      heads.add(token);
    }
    if (token.text === '{') depth += 1;
    if (token.text === '}') depth -= 1;
  }
  return heads;
}

function readUses(tokens, heads) {
  const starts = tokens.flatMap((token, place) => (heads.has(token) ? [place] : []));
  return starts.map((start, index) => {
    const [head, ...words] = tokens.slice(start, starts[index + 1]);
    const open = words.findIndex(({ text }) => text === '{');
    if (open < 0) return { head, args: words, lines: [] };
    const lines = new Map();
    for (const word of words.slice(open + 1, -1))
      lines.set(word.position.line, [...(lines.get(word.position.line) ?? []), word]);
    return { head, args: words.slice(0, open), lines: [...lines.values()] };
  });
}

function describeError(error) {
  return error instanceof Error ? error.message : String(error);
}

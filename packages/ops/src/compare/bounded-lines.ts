/**
 * Lines of a stream of foreign text. A line that is too long is left out: it must not take memory without bound.
 */
const NEWLINE = 10;

/** @param tooLong told of each line that is left out */
export async function* boundedLines(
  chunks: AsyncIterable<Uint8Array>,
  maxOctets: number,
  tooLong: () => void,
): AsyncGenerator<string> {
  let begun: Uint8Array[] = [];
  let octets = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      begun.push(chunk.subarray(start, end));
      octets += end - start;
      if (octets > maxOctets) tooLong();
      else yield decodeLine(begun);
      begun = [];
      octets = 0;
      start = end + 1;
    }
    octets += chunk.length - start;
    if (octets <= maxOctets) begun.push(Uint8Array.from(chunk.subarray(start)));
    else begun = [];
  }
  if (octets > maxOctets) tooLong();
  else if (octets > 0) yield decodeLine(begun);
}

function decodeLine(pieces: readonly Uint8Array[]): string {
  return Buffer.concat(pieces).toString('utf8').replace(/\r$/, '');
}

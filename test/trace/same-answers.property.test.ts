/**
 * Tracing changes no answer: the chain and the readers of a block with `trace` answer as those of the same block without it.
 */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  makePacket,
  ReaderSubject,
  toComparableMessage,
  withOpt,
  withoutTtls,
} from '../coredns/reader-subject.ts';

const PLUGINS = `
  errors
  rewrite name old.example new.example
  cache
  template IN TXT example {
    answer "{{ .Name }} 60 IN TXT made"
  }
  template IN A alias.example {
    answer "{{ .Name }} 60 IN CNAME new.example."
  }
  hosts {
    192.0.2.1 new.example www.example
    2001:db8::1 www.example
    fallthrough
  }
  whoami
`;
const block = (more: string) => `. {\n${more}${PLUGINS}}\n`;

const names = fc.constantFrom(
  'new.example',
  'OLD.example',
  'www.example',
  'alias.example',
  'a.example',
  'b.',
);
const types = fc.constantFrom('A', 'AAAA', 'TXT', 'MX', 'PTR', 'SOA', 'ANY');
const questions = fc.array(fc.tuple(names, types, fc.boolean(), fc.boolean()), {
  minLength: 1,
  maxLength: 12,
});

it.each([0, 1, 2, 3])('with every %i', async (every) => {
  const plain = new ReaderSubject(block(''));
  // Nothing listens there: what happens to the spans is another matter.
  const traced = new ReaderSubject(block(`  trace 127.0.0.1:9 {\n    every ${every}\n  }\n`));
  await Promise.all([plain.engine.start(), traced.engine.start()]);
  await fc.assert(
    fc.asyncProperty(questions, async (asked) => {
      for (const [name, type, isOverTcp, hasOpt] of asked) {
        const packet = makePacket(name, type, withOpt(hasOpt ? 1232 : undefined));
        const answerBy = async (subject: ReaderSubject) => {
          const transport = isOverTcp ? 'tcp' : 'udp';
          const answer =
            subject.askTable(packet, undefined, transport) ?? (await subject.askChain(packet, transport));
          return answer && withoutTtls(toComparableMessage(answer));
        };
        // Otherwise the query would have no trace.
        if (every > 0) expect(traced.askTable(packet, undefined, isOverTcp ? 'tcp' : 'udp')).toBeUndefined();
        expect(await answerBy(traced)).toEqual(await answerBy(plain));
      }
    }),
    { numRuns: 60 },
  );
});

import { expect, it } from 'vitest';
import { EXPLANATION_VERSION, type Explanation } from './explanation.ts';
import { renderExplanation } from './render-explanation.ts';

/** What a user may write into an object. */
const HOSTILE = 'a\u001b[31m\r\nfoo.test\u009b';

it('escapes control characters of objects and names', () => {
  const explanation: Explanation = {
    apiVersion: EXPLANATION_VERSION,
    kind: 'Explanation',
    at: '2026-01-01T00:00:00Z',
    question: { name: HOSTILE, types: ['A'], resolver: 'glibc' },
    client: { address: undefined, namespace: HOSTILE, search: [HOSTILE], ndots: 5, source: 'given' },
    verdict: { outcome: 'resolves', addresses: [], sentence: `an alias of ${HOSTILE}` },
    steps: [],
    otherResolvers: [{ resolver: 'musl', sentence: HOSTILE }],
    upstreams: [],
    remedies: [{ sentence: HOSTILE, command: `kubectl get ${HOSTILE}` }],
    notChecked: [HOSTILE],
  };
  const text = renderExplanation(explanation);
  expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  expect(text).toContain('an alias of a\\027[31m\\013\\010foo.test\\155\n');
});

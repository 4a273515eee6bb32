/**
 * `forward-limit`: refuses names with too few labels.
 */
import { definePlainPlugin } from '../../contract/define-plugin.ts';
import { createForwardLimit } from './forward-limit.ts';
import type { ForwardLimitOptions } from './options.ts';

export const forwardLimit = definePlainPlugin({
  name: 'forward-limit',
  create: ({ minLabels }: ForwardLimitOptions) => ({ handler: createForwardLimit(minLabels) }),
});

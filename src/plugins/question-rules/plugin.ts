/**
 * `question-rules`: the rules of `local-names` for questions that no earlier plugin answers.
 */
import { definePlainPlugin } from '../../contract/define-plugin.ts';
import { LocalNamesPlugin } from '../local-names/local-names.ts';

export const questionRules = definePlainPlugin({
  name: 'question-rules',
  create: (_: undefined, { find }) => ({ handler: find(LocalNamesPlugin)?.handlers.questionRules }),
});

/** Phrases that readers stumble over, in pages as in comments and titles of tests: say the noun or the verb that is meant. */
export const ODD_PHRASES: readonly RegExp[] = [
  /\banew\b/i,
  /(?<!there )\b(?:is|are) none\b/i,
  /(?<!there )\b(?:is|are) others\b/i,
  /\bof ours\b/,
  /\bundefined: nobody\b/,
  /\bevery so manieth\b/i,
];

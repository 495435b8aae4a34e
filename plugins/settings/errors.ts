import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('settings', { PINNED: [409, 'the environment holds this setting'] });

// The address of the Redis that panels on one database share.
import Joi from 'joi';
import { custom } from '../../kernel/index.js';

/** May hold a password, so no message repeats it. */
export const redisUrl = custom<string>(
  Joi.string().custom((value: string, state) => {
    const url = URL.canParse(value) ? new URL(value) : undefined;
    const isWhole =
      url &&
      /^rediss?:$/.test(url.protocol) &&
      url.hostname !== '' &&
      /^(?:\/\d{0,4})?$/.test(url.pathname) &&
      url.search === '' &&
      url.hash === '';
    return isWhole
      ? value
      : state.error('any.custom', {
          error: new Error(
            'it is not of the form redis://user:password@host:port/number, or rediss:// for TLS; characters like @, / and # of a password are written as %40, %2F and %23',
          ),
        });
  }),
);

// `streamSettings.sockopt` of an inbound: options of its sockets. Settings: xtls.github.io, SockoptObject; XTLS/Xray-core,
// infra/conf/transport_internet.go, SocketConfig. Of other keys, which are for outbounds, the core says what is wrong.
import Joi from 'joi';
import { annotate, bool, custom, int, list, num, shape, text } from '../../../kernel/index.js';
import { advanced, maybe } from '../form.js';

const MOST = 2 ** 31 - 1;
const whole = (least = -MOST) => maybe(int().min(least).max(MOST));
const seconds = () => annotate(whole(), { unit: 'seconds' });

export const Sockopt = shape(
  advanced('Socket', {
    mark: whole(0).description('mark of packets, for rules of the system; 0 for none'),
    tcpFastOpen: maybe(custom<boolean | number>(Joi.alternatives(bool(), num()))).description(
      'TCP Fast Open; a number is the length of its queue',
    ),
    tproxy: maybe(text().example('off').example('redirect').example('tproxy')).description(
      'how the inbound learns where redirected connections were going',
    ),
    acceptProxyProtocol: maybe(bool()).description(
      'a proxy in front tells the address of the client by the PROXY protocol',
    ),
    tcpKeepAliveIdle: seconds().description('without data before a connection is probed; below 0: never'),
    tcpKeepAliveInterval: seconds().description('between two probes; below 0: never'),
    tcpUserTimeout: annotate(whole(), { unit: 'ms' }).description(
      'until a connection whose data is not acknowledged is closed',
    ),
    tcpCongestion: maybe(text().example('bbr').example('cubic').example('reno')).description(
      'congestion control of the system',
    ),
    tcpWindowClamp: annotate(whole(), { unit: 'bytes' }).description('largest window that is offered'),
    tcpMaxSeg: annotate(whole(), { unit: 'bytes' }).description('longest segment'),
    tcpMptcp: maybe(bool()).description('Multipath TCP'),
    V6Only: maybe(bool()).description('an inbound at :: does not take IPv4'),
    penetrate: maybe(bool()),
    trustedXForwardedFor: maybe(list(text())).description(
      'headers that a request must have for its X-Forwarded-For to be believed',
    ),
  }),
).unknown(true);

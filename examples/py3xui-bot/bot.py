"""A shop of one page: it creates an inbound, sells clients, shows their links and usage, renews and deletes them.

    export XUI_HOST=https://panel.example.com:2053/secret XUI_TOKEN=…    (or XUI_USERNAME and XUI_PASSWORD)
    python bot.py inbound 8443
    python bot.py sell ann 30 50         30 days, 50 GB
    python bot.py show ann
    python bot.py renew ann 30
    python bot.py delete ann
"""

import sys
import time
import uuid
from urllib.parse import quote, urlsplit

from py3xui import Api, Client, Inbound
from py3xui.inbound import Settings, Sniffing, StreamSettings

SHOP = "shop"
GB, DAY = 1024**3, 24 * 60 * 60 * 1000


def connect():
    api = Api.from_env()
    if api.client.token is None:
        api.login()
    return api


def shop(api):
    """The inbound that the shop sells."""
    for inbound in api.inbound.get_list():
        if inbound.remark == SHOP:
            return inbound
    raise SystemExit("create the inbound first: bot.py inbound 8443")


def inbound(api, port):
    stream = StreamSettings(security="none", network="tcp", tcp_settings={"header": {"type": "none"}})
    sniffing = Sniffing(enabled=True, destOverride=["http", "tls"])
    api.inbound.add(
        Inbound(enable=True, port=int(port), protocol="vless", remark=SHOP, settings=Settings(), stream_settings=stream, sniffing=sniffing)
    )
    print(f"inbound {shop(api).id} listens on port {port}")


def sell(api, email, days, gigabytes):
    end = int(time.time() * 1000) + int(days) * DAY
    client = Client(id=str(uuid.uuid4()), email=email, enable=True, expiry_time=end, total_gb=int(gigabytes) * GB)
    api.client.add(shop(api).id, [client])
    show(api, email)


def show(api, email):
    sold, client = shop(api), api.client.get_by_email(email)
    usage = next(one for one in sold.client_stats if one.email == email)
    host = urlsplit(api.client.host).hostname
    print(f"vless://{client.uuid}@{host}:{sold.port}?type=tcp&encryption=none&security=none#{quote(email)}")
    print(f"used {usage.up + usage.down} of {client.total_gb} bytes, paid until {client.expiry_time}")


def renew(api, email, days):
    client = api.client.get_by_email(email)
    client.expiry_time = max(client.expiry_time, int(time.time() * 1000)) + int(days) * DAY
    api.client.update(client.uuid, client)
    api.client.reset_stats(shop(api).id, email)
    show(api, email)


def delete(api, email):
    api.client.delete(shop(api).id, api.client.get_by_email(email).uuid)
    print(f"{email} is deleted")


COMMANDS = {"inbound": inbound, "sell": sell, "show": show, "renew": renew, "delete": delete}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in COMMANDS:
        raise SystemExit(__doc__)
    COMMANDS[sys.argv[1]](connect(), *sys.argv[2:])

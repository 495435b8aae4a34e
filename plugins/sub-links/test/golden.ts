// Links and parts of links that programs in the field read, by number. Two differ from what older panels write, on purpose:
// 45 says nothing of ECH where there is no TLS, and 46 no flow, which the core refuses for Trojan.
export const GOLDEN: Readonly<Record<string, readonly string[]>> = {
  G1: [
    'vless://11111111-2222-4333-8444-555555555555@cdn1.example.com:8443?alpn=h3%2Ch2&encryption=none&fp=firefox&pcs=UElO&security=tls&sni=sni1.example.com&type=tcp#char-R1-user',
  ],
  G2: [
    'vless://11111111-2222-4333-8444-555555555555@cdn2.example.com:80?encryption=none&security=none&type=tcp#char-R2-user',
  ],
  G3: [
    'vmess://ewogICJhZGQiOiAidm0xLmV4YW1wbGUuY29tIiwKICAiYWxwbiI6ICJoMiIsCiAgImZwIjogImNocm9tZSIsCiAgImlkIjogIjExMTExMTExLTIyMjItNDMzMy04NDQ0LTU1NTU1NTU1NTU1NSIsCiAgIm5ldCI6ICJ0Y3AiLAogICJwb3J0IjogODQ0MywKICAicHMiOiAiY2hhci1WMS11c2VyIiwKICAic2N5IjogImF1dG8iLAogICJzbmkiOiAic25pMS5leGFtcGxlLmNvbSIsCiAgInRscyI6ICJ0bHMiLAogICJ0eXBlIjogIm5vbmUiLAogICJ2IjogIjIiCn0=',
  ],
  G4: [
    'vmess://ewogICJhZGQiOiAidm0yLmV4YW1wbGUuY29tIiwKICAiaWQiOiAiMTExMTExMTEtMjIyMi00MzMzLTg0NDQtNTU1NTU1NTU1NTU1IiwKICAibmV0IjogInRjcCIsCiAgInBvcnQiOiA4MCwKICAicHMiOiAiY2hhci1WMi11c2VyIiwKICAic2N5IjogImF1dG8iLAogICJ0bHMiOiAibm9uZSIsCiAgInR5cGUiOiAibm9uZSIsCiAgInYiOiAiMiIKfQ==',
  ],
  G5: [
    'trojan://p%40ss%2Fw%2Brd%3D@tj.example.com:8443?fp=chrome&security=tls&sni=tj.sni&type=tcp#char-TJ-user',
  ],
  G6: [
    'ss://2022-blake3-aes-256-gcm:inboundpw:clientpw@ss.example.com:8443?fp=chrome&security=tls&sni=ss.sni&type=tcp#char-SS-user',
  ],
  G7: [
    'vless://uid@a.example.com:8443?fp=chrome&security=tls&sni=a.sni&type=tcp#ib-A-user',
    'vless://uid@b.example.com:80?security=none&type=tcp#ib-B-user',
  ],
  G8: [
    'vmess://ewogICJhZGQiOiAiYS5leGFtcGxlLmNvbSIsCiAgImFscG4iOiAiaDIiLAogICJmcCI6ICJjaHJvbWUiLAogICJpZCI6ICJ1aWQiLAogICJuZXQiOiAidGNwIiwKICAicG9ydCI6IDg0NDMsCiAgInBzIjogImliLUEtdXNlciIsCiAgInNjeSI6ICJhdXRvIiwKICAic25pIjogImEuc25pIiwKICAidGxzIjogInRscyIsCiAgInR5cGUiOiAibm9uZSIsCiAgInYiOiAiMiIKfQ==',
  ],
  G9: [
    'vmess://ewogICJhZGQiOiAiYi5leGFtcGxlLmNvbSIsCiAgImlkIjogInVpZCIsCiAgIm5ldCI6ICJ0Y3AiLAogICJwb3J0IjogODAsCiAgInBzIjogImliLUItdXNlciIsCiAgInNjeSI6ICJhdXRvIiwKICAidGxzIjogIm5vbmUiLAogICJ0eXBlIjogIm5vbmUiLAogICJ2IjogIjIiCn0=',
  ],
  G10: ['fm=%7B%22tcp%22%3A%5B%7B%22type%22%3A%22sudoku%22%7D%2C%7B%22type%22%3A%22fragment%22%7D%5D%7D'],
  G11: ['{"udp":[{"type":"salamander"}]}'],
  G12: [
    'vless://11111111-2222-4333-8444-555555555555@cdn.example.com:2053?encryption=none&fp=firefox&pbk=PBKvalue&security=reality&sid=ab12cd&sni=reality.example.com&spx=%2F578a0211df13fc8&type=tcp#char-RS-user',
  ],
  G13: [
    'hysteria2://hyauth@hop.example.com:9443?alpn=h3&fp=chrome&pinSHA256=0000000000000000000000000000000000000000000000000000000000000000&security=tls&sni=hy.sni#char-H1-user',
  ],
  G14: [
    'vless://8c14d6f7-2e3b-4a91-9d24-3f7a6b8c1e02@example.test:443?alpn=h2%2Chttp%2F1.1&encryption=none&fp=chrome&host=cdn.example.test&path=%2Fws&security=tls&sni=cdn.example.test&type=ws#alice-vless-ws-tls-alice%40example.test',
  ],
  G15: [
    'vless://8c14d6f7-2e3b-4a91-9d24-3f7a6b8c1e02@example.test:443?alpn=h2%2Chttp%2F1.1&encryption=none&fp=chrome&host=cdn.example.test&path=%2Fws&pcs=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA%3D%2CBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB%3D&security=tls&sni=cdn.example.test&type=ws#alice',
  ],
  G16: [
    'vless://22222222-3333-4444-9555-666666666666@example.test:443?encryption=none&flow=xtls-rprx-vision&fp=chrome&pbk=Tx5yj1bRcOPHkdvT2pIAQ2zh0gQ8m4OPdnzqXJxxV3o&security=reality&sid=a3f1&sni=yahoo.com&spx=%2Fdafd018f50a389b&type=tcp#dave',
  ],
  G17: [
    'trojan://trojan-test-pw-XYZ@example.test:443?alpn=h2%2Chttp%2F1.1&fp=chrome&host=trojan.example.test&path=%2Ftrojan&security=tls&sni=trojan.example.test&type=ws#eve',
  ],
  G18: [
    'ss://2022-blake3-aes-256-gcm:ZmFrZS1zZXJ2ZXItcGFzc3dvcmQtMDAwMQ%3D%3D:dGVzdC1jbGllbnQtcGFzc3dvcmQtMQ%3D%3D@example.test:8388?type=tcp#frank',
  ],
  G19: ['ss://Y2hhY2hhMjAtaWV0Zi1wb2x5MTMwNTpzM2NyZXQ@203.0.113.1:8388?type=tcp#ss-user'],
  G20: [
    'ss://2022-blake3-aes-256-gcm:inboundpw:clientpw@203.0.113.1:38143?plugin=obfs-local%3Bobfs%3Dhttp%3Bobfs-host%3Dtest#ss-user',
  ],
  G21: [
    'vmess://ewogICJhZGQiOiAiZXhhbXBsZS50ZXN0IiwKICAiYWxwbiI6ICJoMixodHRwLzEuMSIsCiAgImZwIjogImNocm9tZSIsCiAgImhvc3QiOiAiaC5leGFtcGxlLnRlc3QiLAogICJpZCI6ICIxMTExMTExMS0yMjIyLTQzMzMtODQ0NC01NTU1NTU1NTU1NTUiLAogICJuZXQiOiAid3MiLAogICJwYXRoIjogIi92bSIsCiAgInBvcnQiOiA4NDQzLAogICJwcyI6ICJ2bS11c2VyIiwKICAic2N5IjogImF1dG8iLAogICJzbmkiOiAicy5leGFtcGxlLnRlc3QiLAogICJ0bHMiOiAidGxzIiwKICAidHlwZSI6ICJub25lIiwKICAidiI6ICIyIgp9',
  ],
  G22: [
    'vmess://ewogICJhZGQiOiAiMjAzLjAuMTEzLjEiLAogICJhdXRob3JpdHkiOiAiIiwKICAiaWQiOiAiMTExMTExMTEtMjIyMi00MzMzLTg0NDQtNTU1NTU1NTU1NTU1IiwKICAibmV0IjogImdycGMiLAogICJwYXRoIjogInN2YyIsCiAgInBvcnQiOiAyMDgzLAogICJwcyI6ICJnLXVzZXIiLAogICJzY3kiOiAiYXV0byIsCiAgInRscyI6ICJub25lIiwKICAidHlwZSI6ICJtdWx0aSIsCiAgInYiOiAiMiIKfQ==',
  ],
  G23: [
    'vmess://ewogICJhZGQiOiAiMjAzLjAuMTEzLjEiLAogICJpZCI6ICIxMTExMTExMS0yMjIyLTQzMzMtODQ0NC01NTU1NTU1NTU1NTUiLAogICJuZXQiOiAidGNwIiwKICAicG9ydCI6IDgwLAogICJwcyI6ICJ0LXVzZXIiLAogICJzY3kiOiAiYXV0byIsCiAgInRscyI6ICJub25lIiwKICAidHlwZSI6ICJub25lIiwKICAidiI6ICIyIgp9',
  ],
  G24: [
    'vmess://ewogICJhZGQiOiAiMjAzLjAuMTEzLjEiLAogICJob3N0IjogInguZXhhbXBsZS5jb20iLAogICJpZCI6ICIxMTExMTExMS0yMjIyLTQzMzMtODQ0NC01NTU1NTU1NTU1NTUiLAogICJtb2RlIjogImF1dG8iLAogICJuZXQiOiAieGh0dHAiLAogICJwYXRoIjogIi94IiwKICAicG9ydCI6IDQ0MywKICAicHMiOiAieC11c2VyIiwKICAic2N5IjogImF1dG8iLAogICJzbmkiOiAieC5leGFtcGxlLmNvbSIsCiAgInRscyI6ICJ0bHMiLAogICJ0eXBlIjogIm5vbmUiLAogICJ2IjogIjIiLAogICJ4UGFkZGluZ0J5dGVzIjogIjEwMC0xMDAwIiwKICAieF9wYWRkaW5nX2J5dGVzIjogIjEwMC0xMDAwIgp9',
  ],
  G25: [
    'vless://11111111-2222-4333-8444-555555555555@203.0.113.1:443?authority=&encryption=none&fp=chrome&mode=multi&pbk=PBK&security=reality&serviceName=svc&sid=ab12&sni=r.example.com&spx=%2F341c90fe143f4ae&type=grpc#g-user',
  ],
  G26: [
    'vless://11111111-2222-4333-8444-555555555555@203.0.113.1:443?encryption=none&extra=%7B%22mode%22%3A%22auto%22%2C%22xPaddingBytes%22%3A%22100-1000%22%7D&fp=chrome&host=x.example.com&mode=auto&path=%2Fx&security=tls&sni=x.example.com&type=xhttp&x_padding_bytes=100-1000#x-user',
  ],
  G27: [
    'extra=%7B%22headers%22%3A%7B%22X-Forwarded%22%3A%221%22%7D%2C%22mode%22%3A%22packet-up%22%2C%22sessionIDKey%22%3A%22X-Session%22%2C%22sessionIDPlacement%22%3A%22header%22%2C%22sessionKey%22%3A%22X-Session%22%2C%22sessionPlacement%22%3A%22header%22%2C%22uplinkChunkSize%22%3A4096%2C%22xPaddingBytes%22%3A%22100-1000%22%2C%22xmux%22%3A%7B%22maxConcurrency%22%3A%2216-32%22%7D%7D',
  ],
  G28: [
    'vless://11111111-2222-4333-8444-555555555555@203.0.113.1:5000?encryption=none&headerType=wechat-video&mtu=1350&security=none&seed=s&tti=50&type=kcp#k-user',
  ],
  G29: [
    'vless://11111111-2222-4333-8444-555555555555@203.0.113.1:80?encryption=none&headerType=http&host=h.example.com&path=%2F&security=none&type=tcp#t-user',
  ],
  G30: [
    'vless://11111111-2222-4333-8444-555555555555@203.0.113.1:80?encryption=none&host=&path=%2Fhu&security=none&type=httpupgrade#hu-user',
  ],
  G31: [
    'vless://11111111-2222-4333-8444-555555555555@203.0.113.1:443?encryption=none&fm=%7B%22tcp%22%3A%5B%7B%22settings%22%3A%7B%22delay%22%3A%2210-20%22%2C%22length%22%3A%22100-200%22%2C%22packets%22%3A%22tlshello%22%7D%2C%22type%22%3A%22fragment%22%7D%5D%7D&security=none&type=tcp#fm-user',
  ],
  G32: [
    'hysteria2://hyst-v1-auth-XYZ@example.test:36715?alpn=h3&fp=chrome&security=tls&sni=hysteria.example.test#gina',
  ],
  G33: [
    'hysteria2://hyauth@203.0.113.1:443?alpn=h3&fp=chrome&mport=20000-50000&obfs=salamander&obfs-password=obfs-secret&security=tls&sni=hy.sni#hy2-user',
  ],
  G34: ['obfs=gecko', 'obfs-password=pw', 'minPacketSize=512', 'maxPacketSize=1200'],
  G35: [
    'wireguard://QGVlb2dXc1ZTWGw0ZXBzZndsWmtMaUM5MUlNYjBHWFdYbz0%3D@wg.example.test:51820?address=10.0.0.2%2F32%2Cfd00%3A%3A2%2F128&dns=1.1.1.1%2C+8.8.8.8&keepalive=25&mtu=1420&presharedkey=psk%3D&publickey=Piehk2n8UewhMHMyJiBS%2BSxn%2FOK0FalyFW1GAGzokHM%3D#wg-user',
  ],
  G36: [
    'tg://proxy?port=8443&secret=ee8196fe6ed8b637d001f91d6952cfcdf07777772e636c6f7564666c6172652e636f6d&server=203.0.113.7',
  ],
  G37: [
    'tuic://11111111-1111-1111-1111-111111111111:testpassword@198.51.100.1:8443?allow_insecure=0&congestion_control=bbr#tuic-test-user%40test',
  ],
  G38: [
    'tuic://11111111-1111-1111-1111-111111111111:testpassword@198.51.100.1:8443?allow_insecure=0&alpn=h3&congestion_control=cubic&sni=tuic.example.com&udp_relay_mode=quic#tuic-test-user%40test',
  ],
  G39: [
    'vpn://W0ludGVyZmFjZV0KUHJpdmF0ZUtleSA9IGNQcml2PQpBZGRyZXNzID0gMTAuOC4xLjIvMzIKRE5TID0gOC44LjguOApNVFUgPSAxNDIwCkpjID0gNApKbWluID0gNDAKSm1heCA9IDEwMApTMSA9IDMwClMyID0gOTAKSDEgPSAxCkgyID0gMgpIMyA9IDMKSDQgPSA0CgojIGF3Zy11c2VyCltQZWVyXQpQdWJsaWNLZXkgPSBzUHViPQpBbGxvd2VkSVBzID0gMC4wLjAuMC8wLCA6Oi8wCkVuZHBvaW50ID0gMjAzLjAuMTEzLjc6NTE4MjAKUGVyc2lzdGVudEtlZXBhbGl2ZSA9IDI1',
  ],
  G40: [
    'vless://11111111-2222-4333-8444-555555555555@[2001:db8::1]:443?encryption=none&security=none&type=tcp#v6-user',
  ],
  G41: [
    'vless://11111111-2222-4333-8444-000000004432@a.cdn.com:2096?host=a.host&path=%2Fa&security=tls&sni=a.sni&type=ws#n-A-n%40e',
  ],
  G42: [
    'vless://11111111-2222-4333-8444-000000004450@ai.cdn.com:8443?allowInsecure=1&host=base.host&path=%2Fbase&security=tls&sni=base.sni&type=ws#ai-AI-ai%40e',
  ],
  G43: [
    'vless://11111111-2222-4333-8444-000000004490@rl.cdn.com:8443?fp=firefox&pbk=PBK&security=reality&sid=abcd&sni=host.reality.com&spx=%2F3ba18f06db21d4c&type=tcp#rl-RL-rl%40e',
  ],
  G44: [
    'vless://11111111-2222-01bb-8444-000000004500@a.cdn.com:8443?host=base.host&path=%2Fbase&security=tls&sni=base.sni&type=ws#vr-A-vr%40e',
  ],
  G45: [
    'vless://11111111-2222-4333-8444-555555555555@plain.example.com:80?encryption=none&host=h&path=%2Fp&security=none&type=ws#in-R-user',
  ],
  G46: [
    'trojan://pw@203.0.113.1:443?fp=chrome&pbk=PBK&security=reality&sid=ab&sni=r.example.com&spx=%2F341c90fe143f4ae&type=tcp#tr-user',
  ],
  G47: ['#DE-john%40x%7C%F0%9F%93%8A80.00GB%7C%E2%8F%B310D', '#DE'],
  G48: ['#%D0%A1%D0%B5%D1%80%D0%B2%D0%B5%D1%80%201'],
  G49: ['vless://user@host:443#Server%2001?serverDescription=RmFzdCBTZXJ2ZXI='],
  G50: ['vless://user@host:443#Fast%3F%20Server'],
  G51: ['vless://user@host:443#Node%201%3FserverDescription%3Dnot-base64%21%21%21'],
  G52: ['wg.example.com:443', 'wg2.example.com:51820', 'wg-in-CDN-A-alice@wg', 'wg-in-CDN-B-alice@wg'],
  G53: ['Endpoint = awg.example.com:8443', '# awg-in-CDN-alice@awg'],
  G54: ['trojan://pw@1.2.3.4:8443?security=tls#DE-Node'],
  G56: ['[2001:db8::1]:443', '1.2.3.4:443'],
};

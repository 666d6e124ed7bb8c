# OpenStack Swift with its S3 interface, in one process: what the conformance tests of the object storage run against.
# Prints one line with the address once it answers, and ends when its standard input does.
import os
import sys

import eventlet

eventlet.monkey_patch()

from eventlet import listen, wsgi  # noqa: E402
from swift.common import utils  # noqa: E402

folder = sys.argv[1]
utils.SWIFT_CONF_FILE = os.path.join(folder, 'swift.conf')
with open(utils.SWIFT_CONF_FILE, 'w') as conf:
    conf.write('[swift-hash]\nswift_hash_path_prefix = test\nswift_hash_path_suffix = test\n')
utils.HASH_PATH_PREFIX = utils.HASH_PATH_SUFFIX = b'test'

from swift.common import storage_policy  # noqa: E402
from swift.common.ring import RingBuilder  # noqa: E402
from swift.common.wsgi import ConfigString, loadapp  # noqa: E402

storage_policy.reload_storage_policies()
devices = os.path.join(folder, 'devices')
os.makedirs(os.path.join(devices, 'd'))

COMMON = '[DEFAULT]\nswift_dir = %s\ndevices = %s\nmount_check = false\nlog_level = ERROR\nworkers = 0\n' % (folder, devices)
STORE = COMMON + '[pipeline:main]\npipeline = app\n[app:app]\nuse = egg:swift#%s\nfallocate_reserve = 0\n'
PROXY = COMMON + '''[pipeline:main]
pipeline = catch_errors cache s3api tempauth slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:slo]
use = egg:swift#slo
'''

sockets = {}
for name in ('account', 'container', 'object'):
    sockets[name] = listen(('127.0.0.1', 0))
    builder = RingBuilder(4, 1, 0)
    builder.add_dev({'region': 0, 'zone': 0, 'ip': '127.0.0.1', 'port': sockets[name].getsockname()[1], 'device': 'd', 'weight': 1, 'meta': ''})
    builder.rebalance()
    builder.get_ring().save(os.path.join(folder, name + '.ring.gz'))
sockets['proxy'] = listen(('127.0.0.1', 0))


class Silent(object):
    def write(self, _):
        pass

    def flush(self):
        pass


for name, sock in sockets.items():
    app = loadapp(ConfigString(PROXY if name == 'proxy' else STORE % name), global_conf={'log_name': name})
    eventlet.spawn(wsgi.server, sock, app, log=Silent(), log_output=False, debug=False)

print('http://127.0.0.1:%d' % sockets['proxy'].getsockname()[1], flush=True)
eventlet.hubs.trampoline(sys.stdin.fileno(), read=True)
os._exit(0)

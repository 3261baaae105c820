/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Control group paths as systemd, container engines and Kubernetes write them.
 */
#include "tests/unit/suites.h"

#include "proc/identity.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define ID    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define SHORT "0123456789ab"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define UID   "6c2b4a7e-1f0d-4c55-9b0e-1a2b3c4d5e6f"
#define UID_  "6c2b4a7e_1f0d_4c55_9b0e_1a2b3c4d5e6f"
#define HASH  "f9ae38e0c2d14b5f8a7766554433221b"

static const struct {
	const char *text, *unit, *container, *pod;
} cases[] = {
	/* Services and sessions. */
	{"0::/system.slice/ssh.service\n", "ssh.service", "", ""},
	{"0::/user.slice/user-1000.slice/session-3.scope\n", "session-3.scope", "", ""},
	/* A user may give services of the user's own systemd the names of others, so the names say
         * whose they are. */
	{"0::/user.slice/user-1000.slice/user@1000.service\n", "user@1000.service", "", ""},
	{"0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-x.scope\n",
         "user@1000.service/app-x.scope", "", ""},
	{"0::/user.slice/user-1000.slice/user@1000.service/ssh.service\n",
         "user@1000.service/ssh.service", "", ""},
	{"0::/user.slice/user-1000.slice/user@1000.service/user@0.service/docker-" ID
         ".scope/kubepods-pod" UID_ ".slice\n",
         "user@1000.service/kubepods-pod" UID_ ".slice", "user@1000.service/" SHORT, ""},
	{"0::/system.slice/user@here.service/a.scope\n", "a.scope", "", ""},
	{"0::/system.slice/system-getty.slice/getty@tty1.service\n", "getty@tty1.service", "", ""},
	{"0::/system.slice/dbus.socket\n", "dbus.socket", "", ""},
	{"0::/init.scope", "init.scope", "", ""},
	{"0::/\n", "", "", ""},
	{"0::/system.slice/old.service (deleted)\n", "old.service", "", ""},
	/* Legacy and hybrid: systemd's own hierarchy first, a controller's path may be shorter. */
	{"12:pids:/x\n1:name=systemd:/system.slice/cron.service\n", "cron.service", "", ""},
	{"8:cpu:/user.slice\n1:name=systemd:/user.slice/user-0.slice/session-1.scope\n0::/\n",
         "session-1.scope", "", ""},
	{"2:cpu,cpuacct:/system.slice/a.service\n1:name=systemd:/\n0::/\n", "a.service", "", ""},
	{"1:name=systemd:/\n0::/system.slice/b.service\n", "b.service", "", ""},
	/* Docker: systemd driver, cgroupfs driver, and that on a legacy host. */
	{"0::/system.slice/docker-" ID ".scope\n", "docker-" ID ".scope", SHORT, ""},
	{"0::/system.slice/docker-" ID ".scope/inner\n", "docker-" ID ".scope", SHORT, ""},
	{"0::/docker/" ID "\n", "", SHORT, ""},
	{"11:pids:/docker/" ID "\n1:name=systemd:/docker/" ID
         "\n0::/system.slice/containerd.service\n",
         "containerd.service", SHORT, ""},
	{"0::/docker/" OTHER "/docker/" ID "\n", "", SHORT, ""},
	/* Podman: root, rootless, cgroupfs, in a pod; and its monitor. */
	{"0::/machine.slice/libpod-" ID ".scope/container\n", "libpod-" ID ".scope", SHORT, ""},
	{"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
         ".scope/container\n",
         "user@1000.service/libpod-" ID ".scope", "user@1000.service/" SHORT, ""},
	{"0::/libpod_parent/libpod-" ID "\n", "", SHORT, ""},
	{"0::/machine.slice/machine-libpod_pod_" OTHER ".slice/libpod-" ID ".scope\n",
         "libpod-" ID ".scope", SHORT, ""},
	{"0::/machine.slice/libpod-conmon-" ID ".scope\n", "libpod-conmon-" ID ".scope", "", ""},
	{"0::/libpod_parent/conmon-" ID "\n", "", "", ""},
	/* containerd without Kubernetes, and with it; both drivers and all classes. */
	{"0::/default/" ID "\n", "", SHORT, ""},
	{"0::/k8s.io/" ID "\n", "", SHORT, ""},
	{"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
         ".slice/cri-containerd-" ID ".scope\n",
         "cri-containerd-" ID ".scope", SHORT, UID},
	{"0::/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope\n",
         "cri-containerd-" ID ".scope", SHORT, UID},
	{"0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_
         ".slice/crio-" ID ".scope\n",
         "crio-" ID ".scope", SHORT, UID},
	{"0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_
         ".slice/crio-conmon-" ID ".scope\n",
         "crio-conmon-" ID ".scope", "", UID},
	{"0::/kubepods/burstable/pod" UID "/" ID "\n", "", SHORT, UID},
	{"0::/kubepods/pod" UID "/" ID "\n", "", SHORT, UID},
	{"0::/kubepods/burstable/pod" HASH "/" ID "\n", "", SHORT, HASH},
	{"0::/kubepods/besteffort/pod" UID "/crio-" ID "\n", "", SHORT, UID},
	{"4:memory:/kubepods/burstable/pod" UID "/" ID
         "\n1:name=systemd:/kubepods/burstable/pod" UID "/" ID
         "\n0::/system.slice/containerd.service\n",
         "containerd.service", SHORT, UID},
	{"0::/system.slice/containerd.service/kubepods-burstable-pod" UID_
         ".slice:cri-containerd:" ID "\n",
         "containerd.service", SHORT, UID},
	{"0::/docker/" OTHER "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_
         ".slice/cri-containerd-" ID ".scope\n",
         "cri-containerd-" ID ".scope", SHORT, UID},
	/* Machines and LXC. */
	{"0::/machine.slice/machine-my\\x2dbox.scope/payload/system.slice/ssh.service\n",
         "ssh.service", "my-box", ""},
	{"0::/machine.slice/systemd-nspawn@web.service/payload\n", "systemd-nspawn@web.service",
         "web", ""},
	{"0::/lxc.payload.web1/system.slice/nginx.service\n", "nginx.service", "web1", ""},
	{"0::/lxc.monitor.web1\n", "", "", ""},
	{"5:cpu:/lxc/101/ns\n", "", "101", ""},
	{"0::/lxc.payload.web/system.slice/docker-" ID ".scope\n", "docker-" ID ".scope", SHORT,
         ""},
	/* Paths that are nearly of these forms. */
	{"0::/docker/" ID "0\n", "", "", ""},
	{"0::/docker/0" ID "\n", "", "", ""},
	{"0::/docker/0123456789abcdef\n", "", "", ""},
	{"0::/docker/0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef\n", "", "",
         ""},
	{"0::/kubepods/burstable/pod" UID "0/x\n", "", "", ""},
	{"0::/kubepods/podless\n", "", "", ""},
	{"0::/xpod" UID "\n", "", "", ""},
	{"0::/pod\n0::/pod-\n0::/-pod\n", "", "", ""},
	{"0::/machine-.scope\n0::/lxc.payload.\n0::/lxc\n", "machine-.scope", "", ""},
	/* Texts of another format. */
	{"", "", "", ""},
	{"garbage", "", "", ""},
	{"0::/.service\n", "", "", ""},
	{"////\n\n/", "", "", ""},
	{"/system.slice/ssh.service\n", "", "", ""},
	{"0:\n0::\n0:name=systemd\n0:name=systemd:\n:::/a.service\n", "", "", ""},
	{"0::/a\\x2.service\n", "a\\x2.service", "", ""},
	{"0::/machine-\\x00\\x4.scope\n", "machine-\\x00\\x4.scope", "\\x00\\x4", ""},
};

/* Parses from memory of exactly the right size, so that ASan detects a read past its end. */
static void parse(const char *text, size_t len, struct identity *ret_identity)
{
	_cleanup_free_ char *exact = malloc(len ? len : 1);

	memcpy(exact, text, len);
	identity_parse(exact, len, ret_identity);
}

START_TEST(finds_whose)
{
	struct identity identity;

	parse(cases[_i].text, strlen(cases[_i].text), &identity);
	ck_assert_str_eq(identity.unit, cases[_i].unit);
	ck_assert_str_eq(identity.container, cases[_i].container);
	ck_assert_str_eq(identity.pod, cases[_i].pod);
}
END_TEST

START_TEST(cuts_long_names)
{
	_cleanup_free_ char *text = malloc(8192);
	struct identity identity;
	size_t len;

	strcpy(text, "0::/machine-");
	len = strlen(text);
	memset(text + len, 'm', 4000);
	strcpy(text + len + 4000, ".scope\n");
	parse(text, strlen(text), &identity);
	ck_assert_uint_eq(strlen(identity.unit), UNIT_BYTES - 1);
	ck_assert_uint_eq(strlen(identity.container), CONTAINER_BYTES - 1);
}
END_TEST

START_TEST(survives_any_bytes)
{
	static const char text[] = "0::/\xff\x01\x1b[31m.service\0/lxc.payload.\x80\n";
	struct identity identity;
	char cut[sizeof(text)];

	parse(text, sizeof(text) - 1, &identity);
	ck_assert_str_eq(identity.container, "\x80");
	for (size_t len = 0; len < sizeof(text); len++) {
		memcpy(cut, text, len);
		parse(cut, len, &identity);
	}
}
END_TEST

START_TEST(is_shared_when_equal)
{
	_cleanup_(identity_unrefp) struct identity *first = NULL, *second = NULL;

	ck_assert_int_eq(identity_read((uint32_t)getpid(), NULL, &first), 0);
	ck_assert_int_eq(identity_read((uint32_t)getpid(), first, &second), 0);
	ck_assert_ptr_eq(first, second);
	ck_assert_int_eq(identity_read(4000001, first, &second), -ESRCH);
	ck_assert_int_eq(identity_read(2, first, &second), -ESRCH);
}
END_TEST

Suite *identity_suite(void)
{
	Suite *suite = suite_create("identity");
	TCase *tests = tcase_create("identity");

	tcase_add_loop_test(tests, finds_whose, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tests, cuts_long_names);
	tcase_add_test(tests, survives_any_bytes);
	tcase_add_test(tests, is_shared_when_equal);
	suite_add_tcase(suite, tests);
	return suite;
}

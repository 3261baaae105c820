/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What profd knows of a connection before its first request.
 */
#include "http/client.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* What a client does not read must wait in profd, where it is counted, and not in the kernel, whose
 * buffers would hold some MB for each client. */
enum { SEND_BUFFER_BYTES = 128 * 1024 };

/* Each connection keeps the certificate and the rules that were in force when it began.
 * libmicrohttpd has no way to choose them, so the credentials that it has set are replaced before
 * the handshake. */
static void begin_tls(struct client *client, struct MHD_Connection *connection, struct tls *tls)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);

	/* If this fails the session has no certificate, and the handshake fails as well. */
	if (info && !tls_begin(tls, info->tls_session))
		client->tls = tls_ref(tls);
}

struct client *client_new(struct MHD_Connection *connection, struct tls *tls)
{
	const int send_bytes = SEND_BUFFER_BYTES;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct client *client = info ? calloc(1, sizeof(*client)) : NULL;

	if (!client)
		return NULL;
	peer_read(&client->peer, info->connect_fd);
	setsockopt(info->connect_fd, SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof(send_bytes));
	if (tls)
		begin_tls(client, connection, tls);
	return client;
}

void client_free(struct client *client)
{
	if (client)
		tls_unref(client->tls);
	free(client);
}

bool client_is_user(const struct client *client)
{
	return !client->root &&
	       (client->peer.kind != PEER_ELSEWHERE || peer_account_is_user(&client->account));
}

/* A user's address has a constant first half, which is not part of the account, and the user's
 * number in the second half. For other clients only the first half is set. */
uint64_t client_account(const struct client *client)
{
	uint64_t halves[2];

	memcpy(halves, &client->account, sizeof(halves));
	return client->root ? 0 : be64toh(halves[0] | halves[1]);
}

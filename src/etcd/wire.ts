// The part of etcd's gRPC interface that we use, as data (protobufjs JSON), so that the bundle needs no .proto file.
// Names and numbers are those of etcdserverpb/rpc.proto of etcd 3.7; fields that we never read or set are left out,
// which protobuf allows. Field numbers must never be changed or reused here.
type Field = { readonly type: string; readonly id: number; readonly rule?: 'repeated' };

const field = (type: string, id: number): Field => ({ type, id });
const list = (type: string, id: number): Field => ({ type, id, rule: 'repeated' });
const message = (fields: Record<string, Field>) => ({ fields });
const header = field('ResponseHeader', 1);
const rpc = (name: string) => ({ requestType: `${name}Request`, responseType: `${name}Response` });

const cluster = {
  Member: message({
    ID: field('uint64', 1),
    name: field('string', 2),
    peerURLs: list('string', 3),
    clientURLs: list('string', 4),
    isLearner: field('bool', 5),
  }),
  MemberAddRequest: message({ peerURLs: list('string', 1), isLearner: field('bool', 2) }),
  MemberAddResponse: message({ header, member: field('Member', 2), members: list('Member', 3) }),
  MemberRemoveRequest: message({ ID: field('uint64', 1) }),
  MemberRemoveResponse: message({ header, members: list('Member', 2) }),
  MemberPromoteRequest: message({ ID: field('uint64', 1) }),
  MemberPromoteResponse: message({ header, members: list('Member', 2) }),
  MemberListRequest: message({ linearizable: field('bool', 1) }),
  MemberListResponse: message({ header, members: list('Member', 2) }),
};

const maintenance = {
  StatusRequest: message({}),
  StatusResponse: message({
    header,
    version: field('string', 2),
    dbSize: field('int64', 3),
    leader: field('uint64', 4),
    raftIndex: field('uint64', 5),
    raftTerm: field('uint64', 6),
    raftAppliedIndex: field('uint64', 7),
    errors: list('string', 8),
    isLearner: field('bool', 10),
  }),
  MoveLeaderRequest: message({ targetID: field('uint64', 1) }),
  MoveLeaderResponse: message({ header }),
  AlarmRequest: message({ action: field('int32', 1), memberID: field('uint64', 2), alarm: field('int32', 3) }),
  AlarmMember: message({ memberID: field('uint64', 1), alarm: field('int32', 2) }),
  AlarmResponse: message({ header, alarms: list('AlarmMember', 2) }),
  SnapshotRequest: message({}),
  SnapshotResponse: message({ header, remainingBytes: field('uint64', 2), blob: field('bytes', 3) }),
};

const keyValue = {
  KeyValue: message({ key: field('bytes', 1), modRevision: field('int64', 3), value: field('bytes', 5) }),
  RangeRequest: message({ key: field('bytes', 1), limit: field('int64', 3), serializable: field('bool', 7) }),
  RangeResponse: message({ header, kvs: list('KeyValue', 2), count: field('int64', 4) }),
  PutRequest: message({ key: field('bytes', 1), value: field('bytes', 2) }),
  PutResponse: message({ header }),
  // Only what a compare-and-put needs: result 0 is EQUAL, target 2 is MOD.
  Compare: message({
    result: field('int32', 1),
    target: field('int32', 2),
    key: field('bytes', 3),
    modRevision: field('int64', 6),
  }),
  RequestOp: message({ requestRange: field('RangeRequest', 1), requestPut: field('PutRequest', 2) }),
  TxnRequest: message({ compare: list('Compare', 1), success: list('RequestOp', 2), failure: list('RequestOp', 3) }),
  TxnResponse: message({ header, succeeded: field('bool', 2) }),
};

export const etcdWire = {
  nested: {
    etcdserverpb: {
      nested: {
        ResponseHeader: message({
          clusterId: field('uint64', 1),
          memberId: field('uint64', 2),
          revision: field('int64', 3),
        }),
        ...cluster,
        ...maintenance,
        ...keyValue,
        Cluster: {
          methods: {
            MemberAdd: rpc('MemberAdd'),
            MemberRemove: rpc('MemberRemove'),
            MemberPromote: rpc('MemberPromote'),
            MemberList: rpc('MemberList'),
          },
        },
        Maintenance: {
          methods: {
            Status: rpc('Status'),
            MoveLeader: rpc('MoveLeader'),
            Alarm: rpc('Alarm'),
            Snapshot: { ...rpc('Snapshot'), responseStream: true },
          },
        },
        KV: { methods: { Range: rpc('Range'), Put: rpc('Put'), Txn: rpc('Txn') } },
      },
    },
  },
};
